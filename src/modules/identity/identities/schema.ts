import { z } from 'zod'
import { intents } from '../../../auth/wallet.ts'
import { identityProviders } from '../../../db/tables/accounts.ts'
import { flowProviders } from '../../../db/tables/sign-in-flows.ts'
import { bounded, IdOut, TimeOut } from '../../../http/wire.ts'
import { AdminAccount } from '../accounts/admin-schema.ts'
import { Account } from '../accounts/schema.ts'

export const Identity = z
  .object({
    id: IdOut('identity'),
    provider: z.enum(identityProviders),
    subject: z.string().meta({ description: "The provider's subject; for a wallet its EIP-55 address." }),
    chain_id: z.number().int().nullable().meta({
      description:
        'Of a contract wallet: its chain. The same address on another chain is another identity. Null for everything else.',
    }),
    email: z.string().nullable(),
    email_verified: z.boolean(),
    display_name: z.string().nullable(),
    created_at: TimeOut,
    last_used_at: TimeOut.nullable(),
    linked_by_grant_id: IdOut('grant').nullable().meta({
      description: 'The grant that linked it: revoking that grant unlinks it and ends its sessions. Null: a person linked it.',
    }),
  })
  .meta({ id: 'Identity' })
export type Identity = z.output<typeof Identity>

export const AccountWithIdentities = Account.extend({ identities: z.array(Identity) }).meta({ id: 'AccountWithIdentities' })

export const AdminAccountWithIdentities = AdminAccount.extend({ identities: z.array(Identity) }).meta({
  id: 'AdminAccountWithIdentities',
})

/** A signed Sign-In with Ethereum message: the proof of a wallet. */
const signedMessage = { message: bounded(4000).min(1), signature: bounded(20_000).min(1) }
export const SignInIntent = z.enum(intents).meta({
  description:
    '`sign_in` ignores and replaces a session; `link` adds the wallet to the account of the session, and needs one. A text for one is refused for the other. Left out: a session decides, and the text says so.',
})
export const SignedMessage = z.strictObject({ ...signedMessage, intent: SignInIntent.optional() }).meta({ id: 'VerifyWallet' })

export const LinkIdentity = z
  .discriminatedUnion('provider', [
    z.strictObject({ provider: z.literal('wallet'), ...signedMessage }),
    z.strictObject({
      provider: z.enum(flowProviders),
      return_to: bounded(2000).min(1).optional().meta({ description: 'Where the browser goes afterwards.' }),
    }),
  ])
  .meta({ id: 'LinkIdentity' })

export const LinkFlow = z
  .object({
    authorization_url: z.string().meta({ description: 'To be opened in the browser of the person whose identity is linked.' }),
    expires_at: TimeOut,
  })
  .meta({ id: 'LinkFlow' })
