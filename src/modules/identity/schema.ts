import { z } from 'zod'
import { Assertion, NewCredential } from '../../auth/passkey.ts'
import { WalletAddress, WalletSignature } from '../../auth/wallet-schemas.ts'
import { accountStatuses, identityProviders } from '../../db/tables/accounts.ts'
import { flowProviders } from '../../db/tables/sign-in-flows.ts'
import { PageQuery } from '../../http/pagination.ts'
import {
  BodyIn,
  bounded,
  IdIn,
  IdOut,
  MinorOut,
  Name,
  RecordOut,
  RequestKeys,
  SeveralOf,
  SignedMinorOut,
  TimeIn,
  TimeOut,
  VisibleText,
} from '../../http/wire.ts'
import { historyTypes } from '../../ledger/history.ts'
import { Funds } from '../workspaces/schema.ts'

const intents = ['sign_in', 'link'] as const
export type Intent = (typeof intents)[number]

const Capability = z.enum(['active', 'disabled'])
const capabilities = { topups: Capability, payments: Capability, api_keys: Capability, oauth: Capability }

export const Account = RecordOut('Account', {
  id: IdOut('account'),
  status: z.enum(accountStatuses),
  email: z.string().nullable(),
  display_name: z.string().nullable(),
  balance: Funds.describe('The balance of the account’s personal workspace.'),
  capabilities: z.object(capabilities),
  created_at: TimeOut,
})
export type Account = z.output<typeof Account>

export const UpdateAccount = z.strictObject({ display_name: Name.nullable() }).partial().meta({ id: 'UpdateAccount' })

export const SummarizeHistory = z.object({
  days: z.coerce.number().int().min(1).max(90).default(30).describe('The number of days to list, including today.'),
})

export const HistorySummary = z
  .object({
    currency: z.string(),
    days: z.array(
      z.object({
        date: z.string().meta({ format: 'date', example: '2026-01-31' }),
        in_minor: MinorOut,
        out_minor: MinorOut,
        available_minor: MinorOut.nullable().describe('The available balance at the end of the day; null for a shared balance.'),
      }),
    ),
  })
  .meta({
    id: 'HistorySummary',
    description: 'Money in and out by day, in the time zone of the current workspace, oldest first. Holds are not counted.',
  })

export const ListHistory = PageQuery.extend({
  type: SeveralOf(z.enum(historyTypes)).optional().describe('One or more types: `?type=topup&type=adjustment`, or with commas.'),
  created_after: TimeIn.optional(),
  created_before: TimeIn.optional(),
})

export const HistoryEntry = RecordOut('HistoryEntry', {
  id: IdOut('ledger'),
  type: z.enum(historyTypes),
  amount_minor: SignedMinorOut.describe(
    'The signed change of the available balance. All entries add up to the balance. A hold lowers it, a release raises it, and the payment itself is then 0. A charged late success is a payment without a hold, and lowers it.',
  ),
  held_change_minor: SignedMinorOut.describe(
    'The signed change of the held amount. A hold raises it; its payment or release lowers it.',
  ),
  available_after_minor: MinorOut,
  reference: z.object({ type: z.string(), id: z.string() }),
  beneficiary: z
    .object({ id: IdOut('beneficiary'), display_name: z.string() })
    .nullable()
    .describe('The paid beneficiary. Null if the entry is not a payment, or if the caller lacks `beneficiary.read`.'),
  batch: z
    .object({ id: IdOut('payment_batch'), name: z.string().nullable() })
    .nullable()
    .describe('The batch that contains the payment. Null in the same cases as `beneficiary`.'),
  ...RequestKeys,
  created_at: TimeOut,
})

export const WorkspaceHistoryEntry = HistoryEntry.extend({
  available_after_minor: MinorOut.nullable().describe('Null if the balance is shared or the caller may not see it.'),
}).meta({ id: 'WorkspaceHistoryEntry' })

export const AdminAccount = Account.extend({
  is_admin: z.boolean().describe('Whether the account is an administrator of the service, set by command or by ADMIN_ACCOUNTS.'),
  updated_at: TimeOut,
}).meta({ id: 'AdminAccount' })
export type AdminAccount = z.output<typeof AdminAccount>

export const FindAccounts = PageQuery.extend({
  id: IdIn('account').optional(),
  email: bounded(254).min(1).optional().describe('The email of the account, or the verified email of one of its identities.'),
  wallet_address: WalletAddress.optional(),
  status: z.enum(accountStatuses).optional(),
})

export const Reason = VisibleText(500)

export const AdministerAccount = BodyIn('AdministerAccount', {
  status: z.enum(accountStatuses).optional(),
  capabilities: z.strictObject(capabilities).partial().optional(),
  reason: Reason.optional(),
})
export type AdministerAccount = z.output<typeof AdministerAccount>

export const Identity = RecordOut('Identity', {
  id: IdOut('identity'),
  provider: z.enum(identityProviders),
  subject: z.string().describe('The subject at the provider. For a wallet, its EIP-55 address.'),
  chain_id: z
    .number()
    .int()
    .nullable()
    .describe('The chain of a contract wallet; otherwise null. The same address on another chain is another identity.'),
  email: z.string().nullable(),
  email_verified: z.boolean(),
  display_name: z.string().nullable(),
  created_at: TimeOut,
  last_used_at: TimeOut.nullable(),
  linked_by_grant_id: IdOut('grant')
    .nullable()
    .describe(
      'The grant that linked the identity. Revoking that grant ends the sessions of the identity and unlinks it, unless it is the last sign-in method of the account. Null if a person linked it.',
    ),
})
export type Identity = z.output<typeof Identity>

export const AccountWithIdentities = Account.extend({ identities: z.array(Identity) }).meta({ id: 'AccountWithIdentities' })

export const AdminAccountWithIdentities = AdminAccount.extend({ identities: z.array(Identity) }).meta({
  id: 'AdminAccountWithIdentities',
})

const signedMessage = { message: bounded(4000).min(1), signature: WalletSignature }
const SignInIntent = z
  .enum(intents)
  .describe(
    '`sign_in` ignores and replaces the current session. `link` adds the wallet to the account of the session, which is required. A message for one intent is rejected for the other. If omitted, `link` applies if there is a session, otherwise `sign_in`.',
  )
export const SignedMessage = BodyIn('VerifyWallet', { ...signedMessage, intent: SignInIntent.optional() })

export const LinkIdentity = z
  .discriminatedUnion('provider', [
    z.strictObject({ provider: z.literal('wallet'), ...signedMessage }),
    z.strictObject({
      provider: z.enum(flowProviders),
      return_to: bounded(2000).min(1).optional().describe('The URL that the browser opens afterwards.'),
    }),
  ])
  .meta({ id: 'LinkIdentity' })

export const LinkFlow = RecordOut('LinkFlow', {
  authorization_url: z
    .string()
    .optional()
    .describe(
      'The URL to open in the browser of the person whose identity is linked. Replays with the same Idempotency-Key omit it.',
    ),
  expires_at: TimeOut,
})

export const Passkey = RecordOut('Passkey', {
  id: IdOut('passkey'),
  name: z.string(),
  credential_id: z.string().describe('The credential ID of the authenticator, in base64url, for `allowCredentials`.'),
  created_at: TimeOut,
  last_used_at: TimeOut.nullable(),
})
export type Passkey = z.output<typeof Passkey>

export const CreatePasskey = BodyIn('CreatePasskey', {
  name: Name.describe('A name such as "My phone".'),
  credential: NewCredential,
})
export type CreatePasskey = z.output<typeof CreatePasskey>

const KeyDescriptors = z.array(z.object({ id: z.string(), type: z.literal('public-key') }))

/** The W3C's `PublicKeyCredentialCreationOptionsJSON`. */
export const PasskeyOptions = z
  .object({
    rp: z.object({ id: z.string(), name: z.string() }).describe('The relying party: this service (WebAuthn).'),
    user: z
      .object({
        id: z.string(),
        name: z.string(),
        displayName: z.string().describe('The name that the authenticator shows (WebAuthn).'),
      })
      .describe('The account that the passkey belongs to (WebAuthn).'),
    challenge: z.string().describe('The challenge in base64url. It can be used once within ten minutes.'),
    pubKeyCredParams: z
      .array(z.object({ type: z.literal('public-key'), alg: z.number().int().min(-65_536).max(65_535) }))
      .describe('The accepted key types (WebAuthn).'),
    timeout: z.number().int(),
    excludeCredentials: KeyDescriptors.describe('The passkeys of the account (WebAuthn).'),
    authenticatorSelection: z
      .object({
        residentKey: z.literal('required').describe('Whether the authenticator stores the key (WebAuthn).'),
        requireResidentKey: z.literal(true).describe('Whether the authenticator stores the key (WebAuthn).'),
        userVerification: z.literal('required'),
      })
      .describe('The authenticators that can be used (WebAuthn).'),
    attestation: z.literal('none').describe('Whether the authenticator attests its model (WebAuthn).'),
  })
  .meta({
    id: 'PasskeyOptions',
    description: 'The input of `PublicKeyCredential.parseCreationOptionsFromJSON()`, for `navigator.credentials.create()`.',
  })
export type PasskeyOptions = z.output<typeof PasskeyOptions>

export const Prove = BodyIn('ProveSession', { passkey: Assertion })

/** The W3C's `PublicKeyCredentialRequestOptionsJSON`. */
export const ProofOptions = z
  .object({
    challenge: z.string().describe('The challenge in base64url. It can be used once, in this session, within ten minutes.'),
    timeout: z.number().int(),
    rpId: z.string().describe('The host of this site.'),
    allowCredentials: KeyDescriptors.describe(
      'The passkeys that existed when the session began. If empty, use a sign-in method instead.',
    ),
    userVerification: z.literal('required'),
  })
  .meta({
    id: 'ProofOptions',
    description: 'The input of `PublicKeyCredential.parseRequestOptionsFromJSON()`, for `navigator.credentials.get()`.',
  })
export type ProofOptions = z.output<typeof ProofOptions>

export const Proven = RecordOut('Proven', {
  proven_at: TimeOut.describe('When the identity was confirmed. For ten minutes, the session can do what requires step-up.'),
})

const SessionEnd = TimeOut.describe(
  'When the session ends without further use. Each use postpones it, up to the maximum age of a session.',
)

export const Session = RecordOut('Session', {
  id: IdOut('session'),
  status: z.enum(['active', 'revoked', 'expired']),
  current: z.boolean().describe('Whether this is the session of the request.'),
  ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  created_at: TimeOut,
  last_used_at: TimeOut,
  expires_at: SessionEnd,
  revoked_at: TimeOut.nullable(),
})
export type Session = z.output<typeof Session>

export const EndQuery = z.object({
  end: z
    .literal('everything')
    .optional()
    .describe(
      'For use after a theft: also ends everything that began there, except the session of this request and the method that started it. If no sign-in method would be left, the request fails with 409 `last_identity` and changes nothing.',
    ),
})

export const CreateNonce = z
  .strictObject({
    address: WalletAddress,
    chain_id: z.number().int().positive().describe('The chain of the wallet.'),
    intent: SignInIntent,
  })
  .partial()
  .meta({ id: 'CreateWalletNonce' })
  .nullish()
  .transform((body) => body ?? {})

export const Nonce = RecordOut('WalletNonce', {
  nonce: z.string(),
  domain: z.string().describe('The domain in the message.'),
  uri: z.string(),
  statement: z.string().describe('The statement in the message.'),
  chain_ids: z.array(z.number()).describe('The accepted chains.'),
  issued_at: TimeOut,
  expires_at: TimeOut,
  message: z.string().optional().describe('The message to sign. Present if the request contains an address.'),
})

export const SignedIn = RecordOut('SignedIn', {
  outcome: z.enum(['signed_in', 'account_created', 'linked', 'already_linked']),
  account: Account.describe('The account that is signed in.'),
  session: z.object({ expires_at: SessionEnd }).nullable().describe('The new session; null if none was created.'),
})

export const DashboardToken = RecordOut('DashboardToken', {
  token: z.string().optional().describe('The token, shown only once. Replays with the same Idempotency-Key omit it.'),
  token_type: z.literal('Bearer'),
  expires_in: z.number().int(),
})

export const StartQuery = z.object({
  return_to: bounded(2000).min(1).optional().describe('The page to return to: a path here, or a URL of an allowed origin.'),
})

export const CallbackQuery = z.object({
  state: bounded(500).optional(),
  code: bounded(4000).optional(),
  error: bounded(500).optional(),
})

export const Redirect = z.undefined().describe('A redirect; there is no body.')
