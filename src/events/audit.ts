import type { Principal, RequestOrigin } from '../auth/principal.ts'
import { statement, type Tx } from '../db/client.ts'
import { newId, type Uuid } from '../lib/ids.ts'

/** Who did it: a principal, or an account that proved itself otherwise (a signature, a sign-in), or the service itself. */
export type Actor =
  | Principal
  | {
      accountId: Uuid | null
      origin: RequestOrigin | null
      way: string
      /** The credential that began what now comes to its end elsewhere, without it. */
      startedBy?: { credentialId: Uuid; grantId: Uuid | null }
    }

export type AuditEntry = {
  /** `feature.verb`, past tense not needed: `api_key.create`, `payment.denied`. */
  action: string
  workspaceId?: Uuid | null
  subject?: { type: string; id: Uuid }
  before?: unknown
  after?: unknown
}

const insert = statement(
  'audit.append',
  `insert into audit_log (id, at, action, account_id, credential_kind, credential_id, grant_id, workspace_id, subject_type, subject_id, before, after, ip, user_agent, request_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
)

const isPrincipal = (actor: Actor): actor is Principal => 'credential' in actor

const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))

/** Appends to the audit log in the transaction of the act. Never a secret, never a destination: callers pass what REST would show. */
export const audit = async (tx: Tx, actor: Actor, at: Date, entry: AuditEntry): Promise<void> => {
  const principal = isPrincipal(actor) ? actor : null
  const way = 'way' in actor ? actor.way : null
  const startedBy = 'startedBy' in actor ? actor.startedBy : undefined
  await tx.query(insert, [
    newId(),
    at,
    entry.action,
    actor.accountId,
    principal?.credential.kind ?? way,
    principal?.credential.id ?? startedBy?.credentialId ?? null,
    principal?.grant?.id ?? startedBy?.grantId ?? null,
    entry.workspaceId === undefined ? (principal?.workspace.id ?? null) : entry.workspaceId,
    entry.subject?.type ?? null,
    entry.subject?.id ?? null,
    json(entry.before),
    json(entry.after),
    actor.origin?.ip ?? null,
    actor.origin?.userAgent ?? null,
    actor.origin?.requestId ?? null,
  ])
}
