import type { Permission, Role } from "../../session/types";

/** Times are ISO 8601; no scopes: all that the role may do. */
export interface ApiKey {
  id: string;
  name: string;
  role: Role;
  scopes: Permission[];
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  requests_per_minute: number | null;
  concurrent_requests: number | null;
}

export interface NewKey {
  name: string;
  role: Role;
  scopes: Permission[];
  expires_at: string | null;
}

/** `secret` is told this once. */
export interface MadeKey {
  key: ApiKey;
  secret: string;
}

export const PERMISSIONS_OF: Record<Role, readonly Permission[]> = {
  reader: ["ask", "documents:read"],
  editor: ["ask", "documents:read", "documents:write"],
  admin: ["ask", "documents:read", "documents:write", "metrics", "admin"],
};
