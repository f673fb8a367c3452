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
   select id, $1, action, account_id, credential_kind, credential_id, grant_id, workspace_id, subject_type, subject_id, before, after, ip, user_agent, request_id
   from unnest($2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::uuid[], $7::uuid[], $8::uuid[], $9::text[], $10::uuid[], $11::jsonb[], $12::jsonb[], $13::text[], $14::text[], $15::text[])
     as row(id, action, account_id, credential_kind, credential_id, grant_id, workspace_id, subject_type, subject_id, before, after, ip, user_agent, request_id)`,
)

const isPrincipal = (actor: Actor): actor is Principal => 'credential' in actor

const json = (value: unknown): string | null => (value === undefined ? null : JSON.stringify(value))

const valuesOf = ({ actor, ...entry }: ActedEntry): unknown[] => {
  const principal = isPrincipal(actor) ? actor : null
  const way = 'way' in actor ? actor.way : null
  const startedBy = 'startedBy' in actor ? actor.startedBy : undefined
  return [
    newId(),
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
  ]
}

export type ActedEntry = AuditEntry & { actor: Actor }

/** Appends to the audit log in the transaction of the acts. Never a secret, never a destination: callers pass what REST would show. */
export const auditAll = async (tx: Tx, at: Date, entries: readonly ActedEntry[]): Promise<void> => {
  const rows = entries.map(valuesOf)
  const [first] = rows
  if (first) await tx.query(insert, [at, ...first.map((_, column) => rows.map((row) => row[column]))])
}

export const audit = (tx: Tx, actor: Actor, at: Date, entry: AuditEntry): Promise<void> => auditAll(tx, at, [{ ...entry, actor }])
