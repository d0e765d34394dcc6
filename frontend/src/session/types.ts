export type Role = "reader" | "editor" | "admin";

export type Permission = "ask" | "documents:read" | "documents:write" | "metrics" | "admin";

export interface Session {
  name: string;
  tenant: string;
  role: Role;
  permissions: Permission[];
  csrf_token: string;
}

export interface SignInMethods {
  password: boolean;
  oidc: boolean;
  oidc_name: string;
}

export function may(session: Session, permission: Permission): boolean {
  return session.permissions.includes(permission);
}

/** Names the person, so that nobody is shown what another has typed. */
export function ownerOf(session: Session): string {
  return JSON.stringify([session.tenant, session.name]);
}
