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

const columns = {
  id: 'uuid',
  action: 'text',
  account_id: 'uuid',
  credential_kind: 'text',
  credential_id: 'uuid',
  grant_id: 'uuid',
  workspace_id: 'uuid',
  subject_type: 'text',
  subject_id: 'uuid',
  before: 'json',
  after: 'json',
  ip: 'text',
  user_agent: 'text',
  request_id: 'text',
} as const
const names = Object.keys(columns).join(', ')

const insert = statement(
  'audit.append',
  `insert into audit_log (at, ${names})
   select $2, ${names} from json_to_recordset($1::json) as entry(${Object.entries(columns)
     .map(([name, type]) => `${name} ${type}`)
     .join(', ')})`,
)

const isPrincipal = (actor: Actor): actor is Principal => 'credential' in actor

const rowOf = ({ actor, ...entry }: ActedEntry): Record<keyof typeof columns, unknown> => {
  const principal = isPrincipal(actor) ? actor : null
  const way = 'way' in actor ? actor.way : null
  const startedBy = 'startedBy' in actor ? actor.startedBy : undefined
  return {
    id: newId(),
    action: entry.action,
    account_id: actor.accountId,
    credential_kind: principal?.credential.kind ?? way,
    credential_id: principal?.credential.id ?? startedBy?.credentialId ?? null,
    grant_id: principal?.grant?.id ?? startedBy?.grantId ?? null,
    workspace_id: entry.workspaceId === undefined ? (principal?.workspace.id ?? null) : entry.workspaceId,
    subject_type: entry.subject?.type ?? null,
    subject_id: entry.subject?.id ?? null,
    before: entry.before,
    after: entry.after,
    ip: actor.origin?.ip ?? null,
    user_agent: actor.origin?.userAgent ?? null,
    request_id: actor.origin?.requestId ?? null,
  }
}

export type ActedEntry = AuditEntry & { actor: Actor }

/** Appends to the audit log in the transaction of the acts. Never a secret, never a destination: callers pass what REST would show. */
export const auditAll = async (tx: Tx, at: Date, entries: readonly ActedEntry[]): Promise<void> => {
  if (entries.length > 0) await tx.query(insert, [JSON.stringify(entries.map(rowOf)), at])
}

export const audit = (tx: Tx, actor: Actor, at: Date, entry: AuditEntry): Promise<void> => auditAll(tx, at, [{ ...entry, actor }])
