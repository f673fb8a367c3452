import type { Principal, RequestOrigin } from '../auth/principal.ts'
import { statement, type Tx } from '../db/client.ts'
import { bytesList, documentList, documents, plainList, textList } from '../db/lists.ts'
import { newId, type Uuid } from '../lib/ids.ts'
import { pack } from '../lib/packed-text.ts'
import type { AuditAction } from './audit-actions.ts'

/** The actor: a principal, an account that proved itself otherwise (a signature, a sign-in), or the service itself. */
export type Actor =
  | Principal
  | {
      accountId: Uuid | null
      origin: RequestOrigin | null
      way: string
      /** The credential that began what ends now without it. */
      startedBy?: { credentialId: Uuid; grantId: Uuid | null }
    }

export type AuditEntry = {
  action: AuditAction
  workspaceId?: Uuid | null
  subject?: { type: string; id: Uuid }
  before?: unknown
  after?: unknown
  /** What a payment was decided from. */
  inputs?: unknown
}

const insert = statement(
  'audit.append',
  `insert into audit_log (at, id, action, account_id, credential_kind, credential_id, grant_id, workspace_id, subject_type, subject_id,
     before, after, inputs, ip, user_agent, request_id)
   select $15, id, action, account, kind, credential, grant_id, workspace, subject_type, subject, before::json, after::json, inputs, ip, agent, request
   from rows from (unnest($1::uuid[]), unnest($2::text[]), unnest($3::uuid[]), unnest($4::text[]), unnest($5::uuid[]), unnest($6::uuid[]),
     unnest($7::uuid[]), unnest($8::text[]), unnest($9::uuid[]), ${documents(10)}, ${documents(11)}, unnest($12::text[]), unnest($13::text[]),
     unnest($14::text[]), unnest($16::bytea[]))
     as e(id, action, account, kind, credential, grant_id, workspace, subject_type, subject, before, after, ip, agent, request, inputs)`,
)

const isPrincipal = (actor: Actor): actor is Principal => 'credential' in actor

const credentialOf = (actor: Actor): { kind: string; id: Uuid | null; grantId: Uuid | null } =>
  isPrincipal(actor)
    ? { ...actor.credential, grantId: actor.grant?.id ?? null }
    : { kind: actor.way, id: actor.startedBy?.credentialId ?? null, grantId: actor.startedBy?.grantId ?? null }

const workspaceOf = ({ actor, workspaceId }: ActedEntry): Uuid | null =>
  workspaceId === undefined ? (isPrincipal(actor) ? actor.workspace.id : null) : workspaceId

const document = (value: unknown): string | null => (value === undefined || value === null ? null : JSON.stringify(value))

const values = (entries: readonly ActedEntry[], at: Date) => {
  const credentials = entries.map(({ actor }) => credentialOf(actor))
  return [
    plainList(entries.map(() => newId())),
    plainList(entries.map(({ action }) => action)),
    plainList(entries.map(({ actor }) => actor.accountId)),
    textList(credentials.map(({ kind }) => kind)),
    plainList(credentials.map(({ id }) => id)),
    plainList(credentials.map(({ grantId }) => grantId)),
    plainList(entries.map(workspaceOf)),
    plainList(entries.map(({ subject }) => subject?.type ?? null)),
    plainList(entries.map(({ subject }) => subject?.id ?? null)),
    documentList(entries.map(({ before }) => document(before))),
    documentList(entries.map(({ after }) => document(after))),
    textList(entries.map(({ actor }) => actor.origin?.ip ?? null)),
    textList(entries.map(({ actor }) => actor.origin?.userAgent ?? null)),
    textList(entries.map(({ actor }) => actor.origin?.requestId ?? null)),
    at,
    bytesList(entries.map(({ inputs }) => (inputs === undefined ? null : pack('inputs', JSON.stringify(inputs))))),
  ]
}

export type ActedEntry = AuditEntry & { actor: Actor }

/**
 * Appends to the audit log in the transaction of the actions, whose work does not wait for it: a failure fails the commit. Never a secret or a
 * destination: callers pass what REST would show.
 */
export const auditAll = async (tx: Tx, at: Date, entries: readonly ActedEntry[]): Promise<void> => {
  if (entries.length > 0) tx.defer(tx.query(insert, values(entries, at)))
}

export const audit = (tx: Tx, actor: Actor, at: Date, entry: AuditEntry): Promise<void> => auditAll(tx, at, [{ ...entry, actor }])
