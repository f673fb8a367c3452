import type { Principal, RequestOrigin } from '../auth/principal.ts'
import { statement, type Tx } from '../db/client.ts'
import type { Gathered } from '../db/gather.ts'
import { bytesList, documentList, documents, plainList, textList, timeList } from '../db/lists.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import type { AuditAction } from './audit-actions.ts'

/** The actor: a principal, an account that proved itself otherwise (a signature, a sign-in), or the service itself. */
export type Actor =
  | Principal
  | {
      accountId: Uuid | null
      origin: RequestOrigin | null
      way: string
      /** The credential that began what ends now without it. */
      startedBy?: { credential: Principal['credential']; grantId: Uuid | null }
    }

export type AuditEntry = {
  action: AuditAction
  workspaceId?: Uuid | null
  subject?: { type: string; id: Uuid }
  before?: unknown
  after?: unknown
  /** What a payment was decided from, packed: a batch's are packed portion by portion, as they are decided. */
  inputs?: Buffer | undefined
}

const insert = statement(
  'audit.append',
  `insert into audit_log (at, id, action, account_id, credential_kind, credential_id, grant_id, workspace_id, subject_type, subject_id,
     before, after, inputs, ip, user_agent, request_id)
   select at, id, action, account, kind, credential, grant_id, workspace, subject_type, subject, before::json, after::json, inputs, ip, agent, request
   from rows from (unnest($1::uuid[]), unnest($2::text[]), unnest($3::uuid[]), unnest($4::text[]), unnest($5::uuid[]), unnest($6::uuid[]),
     unnest($7::uuid[]), unnest($8::text[]), unnest($9::uuid[]), ${documents(10)}, ${documents(11)}, unnest($12::text[]), unnest($13::text[]),
     unnest($14::text[]), unnest($15::timestamptz[]), unnest($16::bytea[]))
     as e(id, action, account, kind, credential, grant_id, workspace, subject_type, subject, before, after, ip, agent, request, at, inputs)`,
)

const isPrincipal = (actor: Actor): actor is Principal => 'credential' in actor

const credentialOf = (actor: Actor): { kind: string; id: Uuid | null; grantId: Uuid | null } =>
  isPrincipal(actor)
    ? { ...actor.credential, grantId: actor.grant?.id ?? null }
    : { kind: actor.way, id: actor.startedBy?.credential.id ?? null, grantId: actor.startedBy?.grantId ?? null }

const workspaceOf = ({ actor, workspaceId }: ActedEntry): Uuid | null =>
  workspaceId === undefined ? (isPrincipal(actor) ? actor.workspace.id : null) : workspaceId

const document = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value))

/** As it is now: what it shows may change later in the same transaction. */
const rowOf = (entry: ActedEntry, at: Date) => {
  const { actor, action, subject, before, after, inputs } = entry
  const { kind, id: credentialId, grantId } = credentialOf(actor)
  const { accountId, origin } = actor
  return {
    id: newId(),
    action,
    accountId,
    kind,
    credentialId,
    grantId,
    workspaceId: workspaceOf(entry),
    subject,
    before: document(before),
    after: document(after),
    origin,
    inputs: inputs ?? null,
    at,
  }
}

const written: Gathered<ReturnType<typeof rowOf>> = {
  write: (query, rows) =>
    query(insert, [
      plainList(rows.map(({ id }) => id)),
      plainList(rows.map(({ action }) => action)),
      plainList(rows.map(({ accountId }) => accountId)),
      textList(rows.map(({ kind }) => kind)),
      plainList(rows.map(({ credentialId }) => credentialId)),
      plainList(rows.map(({ grantId }) => grantId)),
      plainList(rows.map(({ workspaceId }) => workspaceId)),
      plainList(rows.map(({ subject }) => subject?.type ?? null)),
      plainList(rows.map(({ subject }) => subject?.id ?? null)),
      documentList(rows.map(({ before }) => before)),
      documentList(rows.map(({ after }) => after)),
      textList(rows.map(({ origin }) => origin?.ip ?? null)),
      textList(rows.map(({ origin }) => origin?.userAgent ?? null)),
      textList(rows.map(({ origin }) => origin?.requestId ?? null)),
      timeList(rows.map(({ at }) => at)),
      bytesList(rows.map(({ inputs }) => inputs)),
    ]),
}

export type ActedEntry = AuditEntry & { actor: Actor }

/**
 * Appends to the audit log in the transaction of the actions: all of a transaction are one statement, sent with its commit, which fails when it
 * fails. Never a secret or a destination: callers pass what REST would show.
 */
export const auditAll = async (tx: Tx, at: Date, entries: readonly ActedEntry[]): Promise<void> =>
  tx.gather(
    written,
    entries.map((entry) => rowOf(entry, at)),
  )

export const audit = (tx: Tx, actor: Actor, at: Date, entry: AuditEntry): Promise<void> => auditAll(tx, at, [{ ...entry, actor }])
