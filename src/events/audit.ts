import type { Principal, RequestOrigin } from '../auth/principal.ts'
import type { AtCommitWrite, Tx } from '../db/client.ts'
import { DriverValue, insertRows } from '../db/prepare-write.ts'
import { auditLog } from '../db/tables/events.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import { pack } from '../lib/packed-text.ts'
import { type AuditAction, subjectTypes } from './audit-actions.ts'

/** A principal, an account authenticated in another way (a signature, a sign-in), or the service itself. */
export type Actor =
  | Principal
  | {
      accountId: Uuid | null
      origin: RequestOrigin | null
      way: string
      /** The credential with which the action began. If that credential ends, so does the action. */
      startedBy?: Pick<Principal, 'credential'> & { grant: { readonly id: Uuid } | null }
    }

type AuditEntry = {
  /** Default: the principal's workspace. */
  workspaceId?: Uuid | null
  /** An id of the action's type in `subjectTypes`. */
  subject?: Uuid
  before?: unknown
  after?: unknown
  /** The inputs of a payment's decision, as JSON. */
  inputs?: string | undefined
}

const isPrincipal = (actor: Actor): actor is Principal => 'credential' in actor

const credentialOf = (actor: Actor): { kind: string; id: Uuid | null; grantId: Uuid | null } => {
  const by = isPrincipal(actor) ? actor : actor.startedBy
  const kind = isPrincipal(actor) ? actor.credential.kind : actor.way
  return { kind, id: by?.credential.id ?? null, grantId: by?.grant?.id ?? null }
}

const document = (value: unknown): DriverValue =>
  new DriverValue(value === undefined || value === null ? null : JSON.stringify(value))

/** Copies the values now, because they may change later in the same transaction. */
const rowOf = (tx: Tx, actor: Actor, action: AuditAction, entry: AuditEntry) => {
  const { workspaceId, subject, before, after, inputs } = entry
  const { kind, id: credentialId, grantId } = credentialOf(actor)
  const { accountId, origin } = actor
  const type = subjectTypes.get(action) ?? null
  return {
    id: newId(),
    at: tx.at,
    action,
    accountId,
    credentialKind: kind,
    credentialId,
    grantId,
    workspaceId: workspaceId === undefined && isPrincipal(actor) ? actor.workspace.id : (workspaceId ?? null),
    subjectType: subject === undefined ? null : type === 'credential' ? kind : type,
    subjectId: subject ?? null,
    before: document(before),
    after: document(after),
    inputs: new DriverValue(inputs === undefined ? null : pack('inputs', inputs)),
    ip: origin?.ip ?? null,
    userAgent: origin?.userAgent ?? null,
    requestId: origin?.requestId ?? null,
  }
}

const auditRows: AtCommitWrite<ReturnType<typeof rowOf>> = {
  write: (tx, rows) => insertRows(tx, auditLog, rows),
  traceOf: ({ accountId, id }) => (accountId === null ? undefined : `${accountId}:${id}`),
}

/** Call this in the action's transaction. Pass only data that the API would return, never a secret or a destination. */
export const audit = (tx: Tx, actor: Actor, action: AuditAction, entry: AuditEntry = {}): void =>
  tx.writeAtCommit(auditRows, [rowOf(tx, actor, action, entry)])
