import { and, eq, sql } from 'drizzle-orm'
import { linkerOf } from '../../../auth/authority-sql.ts'
import type { ContractWallets } from '../../../auth/contract-wallet.ts'
import { recoverSigner } from '../../../auth/recover-signer.ts'
import type { Database, Db } from '../../../db/client.ts'
import { prepare } from '../../../db/prepare.ts'
import { selectPage, selectRow, selectRows } from '../../../db/select-rows.ts'
import { identities } from '../../../db/tables/accounts.ts'
import { presenter } from '../../../http/presenter.ts'
import { unavailable } from '../../../lib/errors.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { type Address, parseAddress, walletNameOf } from '../../../lib/wallet-name.ts'
import { Identity } from '../schema.ts'

export type IdentityRecord = typeof identities.$inferSelect

export const listIdentities = selectRows('identities.of_account', identities, ['accountId'], 'coalesced')

export const pageIdentities = selectPage('identities.page', identities, identities.accountId)

const ownMethods = prepare('identities.own', { accountId: 'uuid' }, (orm, param) =>
  orm
    .select({ id: identities.id })
    .from(identities)
    .where(and(eq(identities.accountId, param.accountId), sql`${sql.raw(linkerOf('identities'))} is null`)),
)

/** The sign-in methods that belong to the person: no grant linked them, or that grant was revoked. */
export const readOwnMethods = async (db: Db, accountId: Uuid): Promise<ReadonlySet<Uuid>> =>
  new Set((await db.run(ownMethods, { accountId })).map(({ id }) => id))

export const findIdentity = selectRow('identities.by_key', identities, ['provider', 'issuer', 'subjectKey'])

export type IdentityProof = Pick<
  IdentityRecord,
  'provider' | 'issuer' | 'subject' | 'subjectKey' | 'email' | 'emailVerified' | 'displayName' | 'chainId'
>

/** `name` includes a contract's chain, because the same address may be another person's contract on another chain. */
export const walletKey = (name: string) => ({ provider: 'wallet', issuer: 'eip155', subjectKey: name.toLowerCase() }) as const

/** `chainId`: the chain of the contract that verified the signature; null if the address's own key signed. */
export const walletProof = (address: Address, chainId: number | null): IdentityProof => ({
  ...walletKey(walletNameOf(address, chainId)),
  subject: address,
  email: null,
  emailVerified: false,
  displayName: null,
  chainId,
})

export const presentIdentity = presenter(Identity)

/**
 * Recovers the signer from the signature. If `named` is the address of a linked contract wallet, its chain verifies the signature
 * over the network. Throws `unavailable` if that chain does not answer. The caller checks whether the wallet may decide.
 */
export const proveSigner = async (
  db: Database,
  contractWallets: ContractWallets,
  { message, signature, named }: { message: string; signature: string; named: string | undefined },
): Promise<string | undefined> => {
  const recovered = recoverSigner(message, signature)
  const address = named === undefined ? undefined : parseAddress(named)
  if (named === undefined || recovered === address) return recovered
  if (!address) return undefined
  let isUnanswered = false
  for (const chainId of contractWallets.chainIds) {
    const name = walletNameOf(address, chainId)
    if (!(await findIdentity(db, walletKey(name)))) continue
    const answer = await contractWallets.query({ chainId, address, message, signature })
    if (answer === 'valid') return name
    isUnanswered ||= answer === 'unanswered'
  }
  if (isUnanswered)
    throw unavailable({
      message: 'The chain of this contract wallet did not answer: the signature could not be checked. Send it again.',
    })
  return undefined
}
