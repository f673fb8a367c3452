import { and, asc, eq, sql } from 'drizzle-orm'
import type { Principal } from '../auth/principal.ts'
import { type Db, statement, type Tx } from '../db/client.ts'
import { prepare } from '../db/prepare.ts'
import { insertRows } from '../db/prepare-write.ts'
import { prepareRemoval } from '../db/prune.ts'
import { grants } from '../db/tables/grants.ts'
import { sessions } from '../db/tables/sessions.ts'
import { sessionActs } from '../db/tables/workspaces.ts'
import { isoTime } from '../lib/clock.ts'
import { formatId, newId, type Uuid } from '../lib/ids.ts'
import { policyFieldNames, wireName } from '../policy/fields.ts'

// Records a session's changes to existing rows, to undo them if it was stolen. Rows that a session added carry its id.

type Act = typeof sessionActs.$inferSelect
type NewAct = Pick<Act, 'workspaceId' | 'kind' | 'recordId'> & Partial<Pick<Act, 'before'>>

/** Skips acts by a key whose session is gone, because ending a session could no longer undo them. */
const isKept = `where x.session_id is distinct from x.grant_id or exists (
  select from grants g join grants a on a.id = any(g.ancestor_ids || g.id)
  where g.id = x.grant_id and (a.derived_from_grant_id is not null or (select true from sessions s where s.id = a.origin_session_id)))`

/** For a key, `sessionId` is the id of its grant, by which the acts of keys that were created in a session are found. */
export const recordSessionAct = (
  tx: Tx,
  { accountId, originSessionId, originGrantId }: Pick<Principal, 'accountId' | 'originSessionId' | 'originGrantId'>,
  act: NewAct,
): void => {
  const sessionId = originSessionId ?? originGrantId
  if (sessionId === null) return
  const row = { id: newId(), accountId, sessionId, grantId: originGrantId, before: null, after: null, ...act, createdAt: tx.at }
  tx.defer(insertRows(tx, sessionActs, [row], isKept))
}

const ofSessions = prepare('session_acts.of_sessions', { ids: 'uuid[]', accountId: 'uuid' }, (orm, param) =>
  orm
    .select()
    .from(sessionActs)
    .where(and(sql`${sessionActs.sessionId} = any(${param.ids})`, eq(sessionActs.accountId, param.accountId)))
    .orderBy(asc(sessionActs.id)),
)

export type SessionAct = Pick<Act, 'kind' | 'recordId' | 'workspaceId' | 'before' | 'createdAt'>

/** Returns acts, oldest first. `ids`: ids of sessions and grants. */
export const findActs = (db: Db, accountId: Uuid, ids: readonly Uuid[]): Promise<SessionAct[]> =>
  db.run(ofSessions, { ids, accountId })

/** The end of a session, in the same expression as in the index. */
export const endOfSession = sql`least(${sessions.expiresAt}, ${sessions.revokedAt})`

/** Pruned before the sessions. A key's acts are pruned with the last session that created the key or one of its parents. */
export const oldActs = prepareRemoval('session_acts.prune', sessionActs.id, sessionActs.createdAt, {
  condition: (before) => sql`${sessionActs.sessionId} = any(array(
    with ended as (select ${sessions.id} from ${sessions} where ${endOfSession} < ${before})
    select id from ended union all
    select k.id from ended join ${grants} m on m.origin_session_id = ended.id
      join lateral (select m.id, m.ancestor_ids union all select id, ancestor_ids from ${grants}
        where ancestor_ids[1] = coalesce(m.ancestor_ids[1], m.id) and m.id = any(ancestor_ids)) as k on true
    where not exists (select from ${grants} a left join ${sessions} s on s.id = a.origin_session_id
      where a.id = any(k.ancestor_ids || k.id) and (a.derived_from_grant_id is not null or not least(s.expires_at, s.revoked_at) < ${before}))))`,
  orderBy: [sessionActs.sessionId, sessionActs.id],
})

type Document = Readonly<Record<string, unknown>>
type Compared = {
  id: Uuid
  workspaceId: Uuid
  name: string
  version: number
  archived: boolean
  waiting: boolean
  was: Document | null
  current: Document | null
}

const compare = statement('session_acts.compare_policies')`
  select p.id, p.workspace_id as "workspaceId", p.name, p.version, p.archived_at is not null as archived,
     p.pending_change_effective_at is not null as waiting, was.document as was, current.document as current
   from unnest($1::uuid[], $2::int[]) as x(id, version) join spending_policies p on p.id = x.id
     left join spending_policy_versions was on was.policy_id = p.id and was.version = x.version
     left join spending_policy_versions current on current.policy_id = p.id and current.version = p.version`

const wireFields = policyFieldNames.map(wireName)

const fieldsThat = (was: Document, keep: (field: string) => boolean): Document =>
  Object.fromEntries(wireFields.filter((field) => field in was && keep(field)).map((field) => [field, was[field]]))

const path = '/v1/spending-policies'

/** Returns the request that restores the earlier terms, or null if they are unchanged. */
const undoOf = ({ id, name, version, archived, waiting, was, current }: Compared) => {
  const own = `${path}/${formatId('policy', id)}`
  if (archived && was) return { method: 'POST' as const, path, body: { name, ...fieldsThat(was, () => true) } }
  const changed = was && current ? fieldsThat(was, (field) => JSON.stringify(was[field]) !== JSON.stringify(current[field])) : {}
  if (Object.keys(changed).length > 0) return { method: 'PATCH' as const, path: own, body: { version, ...changed } }
  return waiting ? { method: 'DELETE' as const, path: `${own}/pending-change`, body: null } : null
}

/** Finds policies that are, or will be, looser than before these acts, each with the request that undoes the change. */
export const findLoosened = async (db: Db, acts: readonly SessionAct[]) => {
  const firsts = new Map<Uuid, SessionAct>()
  for (const act of acts) if (act.kind === 'loosened' && !firsts.has(act.recordId)) firsts.set(act.recordId, act)
  if (firsts.size === 0) return []
  const versions = [...firsts.values()].map(({ before }) => Number(before))
  const rows = await db.query<Compared>(compare, [[...firsts.keys()], versions])
  return rows.flatMap((row) => {
    const undo = undoOf(row)
    const at = firsts.get(row.id)?.createdAt
    if (!undo || !at) return []
    const id = formatId('policy', row.id)
    return [{ id, workspace_id: formatId('workspace', row.workspaceId), name: row.name, loosened_at: isoTime(at), undo }]
  })
}
