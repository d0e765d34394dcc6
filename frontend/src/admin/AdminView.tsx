import { AuditLog } from "./audit/AuditLog";
import { CachePanel } from "./CachePanel";
import { KeysPanel } from "./keys/KeysPanel";

export function AdminView() {
  return (
    <div className="admin">
      <h1>Administration</h1>
      <CachePanel />
      <KeysPanel />
      <AuditLog />
    </div>
  );
}
