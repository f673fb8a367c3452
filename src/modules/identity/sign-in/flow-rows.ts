import { and, eq, gt, isNull, or } from 'drizzle-orm'
import { z } from 'zod'
import type { ProviderName } from '../../../auth/providers.ts'
import { newOpaqueToken, sha256 } from '../../../auth/secrets.ts'
import { type Db, first, type Tx } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { insertRow, prepareWrite } from '../../../db/prepare-write.ts'
import { prepareRemoval, prune } from '../../../db/prune.ts'
import { signInFlows } from '../../../db/tables/sign-in-flows.ts'
import { secondsAfter } from '../../../lib/clock.ts'
import { newId, type Uuid } from '../../../lib/ids.ts'
import type { Parts } from '../../parts.ts'

export const flowTtlSeconds = 600

/** `confirms`: the session that the flow proves, and the IP address and user agent that requested the proof. */
const Secrets = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  confirms: z
    .strictObject({
      sessionId: z.custom<Uuid>((value) => typeof value === 'string'),
      ip: z.string().nullable(),
      userAgent: z.string().nullable(),
    })
    .exactOptional(),
})

type Row = typeof signInFlows.$inferSelect
export type Flow = Row & { secrets: z.output<typeof Secrets> }

/** The credential that began a link, and the account to link to. Null for a sign-in. */
export const initiatorOf = ({ accountId, credentialKind: kind, credentialId: id, grantId }: Row) =>
  accountId === null || kind === null || id === null
    ? null
    : { accountId, credential: { kind, id }, grant: grantId === null ? null : { id: grantId } }

const byLink = prepare('sign_in_flows.by_link', { linkHash: 'bytea', now: 'timestamptz' }, (orm, param) =>
  orm
    .select()
    .from(signInFlows)
    .where(and(eq(signInFlows.linkHash, param.linkHash), gt(signInFlows.expiresAt, param.now))),
)

/** Binds a flow to the first browser that continues from a link's page. Returns no row for any other browser. */
const bind = prepareWrite('sign_in_flows.bind', { id: 'uuid', browserHash: 'bytea' }, (orm, param) =>
  orm
    .update(signInFlows)
    .set({ browserHash: param.browserHash })
    .where(and(eq(signInFlows.id, param.id), or(isNull(signInFlows.browserHash), eq(signInFlows.browserHash, param.browserHash))))
    .returning({ id: signInFlows.id }),
)

/** Consumes a flow that has not expired, once, and only for its own provider and browser: its state cannot be used again. */
const consume = prepareWrite(
  'sign_in_flows.take',
  { stateHash: 'bytea', provider: 'text', browserHash: 'bytea', now: 'timestamptz' },
  (orm, param) =>
    orm
      .delete(signInFlows)
      .where(
        and(
          eq(signInFlows.stateHash, param.stateHash),
          eq(signInFlows.provider, param.provider),
          eq(signInFlows.browserHash, param.browserHash),
          gt(signInFlows.expiresAt, param.now),
        ),
      )
      .returning(),
)

const removal = prepareRemoval('sign_in_flows.prune', signInFlows.id, signInFlows.expiresAt)

export const pruneFlows = (db: Db, before: Date): Promise<void> => prune(db, { removal, before })

const contextOf = (id: Uuid) => ['sign_in_flow', id]

export const openFlow = (
  tx: Tx,
  { vault }: Pick<Parts, 'vault'>,
  flow: Omit<typeof signInFlows.$inferInsert, 'id' | 'stateHash' | 'sealed' | 'sealedKeyId' | 'createdAt' | 'expiresAt'>,
  confirms?: Flow['secrets']['confirms'],
) => {
  const id = newId()
  const secrets: Flow['secrets'] = {
    state: newOpaqueToken(),
    nonce: newOpaqueToken(),
    verifier: newOpaqueToken(),
    ...(confirms && { confirms }),
  }
  const { ciphertext: sealed, keyId: sealedKeyId } = vault.seal(JSON.stringify(secrets), contextOf(id))
  const expiresAt = secondsAfter(tx.at, flowTtlSeconds)
  insertRow(tx, signInFlows, { id, stateHash: sha256(secrets.state), sealed, sealedKeyId, createdAt: tx.at, expiresAt, ...flow })
  return { secrets, expiresAt }
}

/** A flow that was sealed with a removed key counts as expired. */
const unseal = ({ vault }: Pick<Parts, 'vault'>, row: Row | undefined): Flow | undefined => {
  if (!row) return undefined
  try {
    const opened = vault.open({ ciphertext: row.sealed, keyId: row.sealedKeyId }, contextOf(row.id))
    return { ...row, secrets: Secrets.parse(JSON.parse(opened)) }
  } catch {
    return undefined
  }
}

type StoreDeps = Pick<Parts, 'db' | 'vault'>

export const findFlowOfLink = async (deps: StoreDeps, link: string, now: Date): Promise<Flow | undefined> =>
  unseal(deps, await first(deps.db, byLink, { linkHash: sha256(link), now }))

/** Returns false if another browser continued first. */
export const bindFlow = async ({ db }: Pick<Parts, 'db'>, { id }: Flow, flowCookie: string): Promise<boolean> =>
  (await db.run(bind, { id, browserHash: sha256(flowCookie) })).length > 0

export const consumeFlow = async (
  deps: StoreDeps,
  { provider, state, flowCookie }: { provider: ProviderName; state: string; flowCookie: string },
  now: Date,
): Promise<Flow | undefined> =>
  unseal(deps, await first(deps.db, consume, { stateHash: sha256(state), provider, browserHash: sha256(flowCookie), now }))
