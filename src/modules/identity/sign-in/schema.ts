import { z } from 'zod'
import { WalletAddress } from '../../../auth/wallet.ts'
import { bounded, TimeOut } from '../../../http/wire.ts'
import { Account } from '../accounts/schema.ts'
import { SignInIntent } from '../identities/schema.ts'

export const CreateNonce = z
  .strictObject({
    address: WalletAddress,
    chain_id: z.number().int().positive().meta({ description: 'The chain of the wallet.' }),
    intent: SignInIntent,
  })
  .partial()
  .meta({ id: 'CreateWalletNonce' })
  .nullish()
  .transform((body) => body ?? {})

export const Nonce = z
  .object({
    nonce: z.string(),
    domain: z.string().meta({ description: 'The domain that the message names.' }),
    uri: z.string(),
    statement: z.string().meta({ description: 'The sentence that the message contains.' }),
    chain_ids: z.array(z.number()).meta({ description: 'The chains that are accepted.' }),
    issued_at: TimeOut,
    expires_at: TimeOut,
    message: z.string().optional().meta({ description: 'The message to sign, if an address was given.' }),
  })
  .meta({ id: 'WalletNonce' })

export const SignedIn = z
  .object({
    outcome: z.enum(['signed_in', 'account_created', 'linked', 'already_linked']),
    account: Account.meta({ description: 'The account that is signed in.' }),
    session: z.object({ expires_at: TimeOut }).nullable().meta({ description: 'The session that began; null where none did.' }),
  })
  .meta({ id: 'SignedIn' })

export const DashboardToken = z
  .object({
    token: z
      .string()
      .optional()
      .meta({ description: 'Shown once: a repeated request with the same Idempotency-Key is answered without it.' }),
    token_type: z.literal('Bearer'),
    expires_in: z.number().int(),
  })
  .meta({ id: 'DashboardToken' })

export const StartQuery = z.object({
  return_to: bounded(2000).min(1).optional().meta({ description: 'A path of this site, or a URL of an allowed origin.' }),
})

export const CallbackQuery = z.object({
  state: bounded(500).optional(),
  code: bounded(4000).optional(),
  error: bounded(500).optional(),
})

export const Redirect = z.undefined().meta({ description: 'A redirect; there is no body.' })
