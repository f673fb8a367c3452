import { administratorNames } from '../../../auth/administrators.ts'
import type { Config } from '../../../config.ts'
import { statement, type Tx } from '../../../db/client.ts'
import { emailKeySql } from '../../../lib/email-key.ts'
import { Refusal } from '../../../lib/errors.ts'
import { verifiedEmail } from '../identities/link.ts'
import type { IdentityProof } from '../identities/queries.ts'

/** A key's wallet is the same on every chain, a contract wallet only on its own. `$3`: true if the chain does not matter. */
const matchesWallet = (name: string): string => `right(${name}, 42) = right($2, 42) and ($3 or ${name} = $2)`
const openInvitationWith = (condition: string): string =>
  `exists (select from invitations i where i.accepted_at is null and i.revoked_at is null and i.expires_at > $4 and ${condition})`

const invited = statement('identity.invited')`
  select exists (
     select from operator_invitations o where o.subject_key = $1 or ${matchesWallet('o.subject_key')}
   ) or ${openInvitationWith(`(${emailKeySql('i.email')}) = $1`)} or ${openInvitationWith(matchesWallet('lower(i.wallet_address)'))} as "isInvited"`

const isInvited = async (tx: Tx, proof: IdentityProof): Promise<boolean> => {
  const wallet = proof.provider === 'wallet' ? proof.subjectKey : null
  const found = await tx.query<{ isInvited: boolean }>(invited, [verifiedEmail(proof), wallet, proof.chainId === null, tx.at])
  return found[0]?.isInvited === true
}

const isAdministrator = (config: Config, proof: IdentityProof): boolean => {
  const wallet = proof.chainId === null ? `key:${proof.subjectKey}` : proof.subjectKey
  const name = proof.provider === 'wallet' ? wallet : verifiedEmail(proof)
  return name !== null && administratorNames(config.ADMIN_ACCOUNTS).includes(name)
}

/** The refusal of a person without an account, or null if `SIGN_UP` permits a new one. Administrators may always sign up. */
export const signUpRefusal = async (tx: Tx, config: Config, proof: IdentityProof): Promise<Refusal | null> => {
  const { signUp, SUPPORT_CONTACT: contact } = config
  if (signUp === 'open' || isAdministrator(config, proof)) return null
  if (signUp === 'invited' && (await isInvited(tx, proof))) return null
  const proven = proof.provider === 'wallet' ? 'this wallet' : 'this verified e-mail'
  const why =
    signUp === 'closed' ? 'This service opens no new accounts.' : `No account has ${proven}, and no invitation names it.`
  return new Refusal('forbidden', {
    message: `${why} Ask ${contact ?? 'the operator of the service'} for access.`,
    details: { reason: 'sign_up' },
  })
}
