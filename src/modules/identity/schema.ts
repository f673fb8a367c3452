import { z } from 'zod'
import { Assertion, NewCredential } from '../../auth/passkey.ts'
import { intents, WalletAddress, WalletSignature } from '../../auth/wallet.ts'
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
import { historyTypes } from '../../ledger/reports.ts'
import { Funds } from '../workspaces/schema.ts'

const Capability = z.enum(['active', 'disabled'])

export const Account = RecordOut('Account', {
  id: IdOut('account'),
  status: z.enum(accountStatuses),
  email: z.string().nullable(),
  display_name: z.string().nullable(),
  balance: Funds.describe('The balance of its personal workspace.'),
  capabilities: z.object({ topups: Capability, payments: Capability, api_keys: Capability, oauth: Capability }),
  created_at: TimeOut,
})
export type Account = z.output<typeof Account>

export const UpdateAccount = z.strictObject({ display_name: Name.nullable() }).partial().meta({ id: 'UpdateAccount' })

export const SummarizeHistory = z.object({
  days: z.coerce.number().int().min(1).max(90).default(30).describe('How many days are listed, today included.'),
})

export const HistorySummary = z
  .object({
    currency: z.string(),
    days: z.array(
      z.object({
        date: z.string().meta({ format: 'date', example: '2026-01-31' }),
        in_minor: MinorOut,
        out_minor: MinorOut,
        available_minor: MinorOut.nullable().describe(
          'What was available at the end of the day. Null where the balance is shared with the owning account.',
        ),
      }),
    ),
  })
  .meta({
    id: 'HistorySummary',
    description:
      'Money that came in and money that left, by day in the time zone of the current workspace; oldest first. Holds are not counted.',
  })

export const ListHistory = PageQuery.extend({
  type: SeveralOf(z.enum(historyTypes)).optional().describe('One or several: `?type=topup&type=adjustment`, or with commas.'),
  created_after: TimeIn.optional(),
  created_before: TimeIn.optional(),
})

export const HistoryEntry = RecordOut('HistoryEntry', {
  id: IdOut('ledger'),
  type: z.enum(historyTypes),
  amount_minor: SignedMinorOut.describe(
    'Signed: how this entry changed the available balance, so that a history adds up to the balance. A hold lowers it, a release raises it, and the payment itself then changes nothing; a late success that was charged is a payment without a hold, and lowers it.',
  ),
  held_change_minor: SignedMinorOut.describe(
    'Signed: how this entry changed the held amount. A hold raises it, its payment or its release lowers it.',
  ),
  available_after_minor: MinorOut,
  reference: z.object({ type: z.string(), id: z.string() }),
  beneficiary: z
    .object({ id: IdOut('beneficiary'), display_name: z.string() })
    .nullable()
    .describe('Who was paid. Null if the entry is not a payment, and for a reader without `beneficiary.read`.'),
  batch: z
    .object({ id: IdOut('payment_batch'), name: z.string().nullable() })
    .nullable()
    .describe('The batch that the payment is an item of. Null as `beneficiary` is.'),
  ...RequestKeys,
  created_at: TimeOut,
})

export const WorkspaceHistoryEntry = HistoryEntry.extend({
  available_after_minor: MinorOut.nullable().describe('Null where the balance is shared, or not the reader’s to see.'),
}).meta({ id: 'WorkspaceHistoryEntry' })

export const AdminAccount = Account.extend({
  is_admin: z.boolean().describe('Named by command, or by ADMIN_ACCOUNTS.'),
  updated_at: TimeOut,
}).meta({ id: 'AdminAccount' })
export type AdminAccount = z.output<typeof AdminAccount>

export const FindAccounts = PageQuery.extend({
  id: IdIn('account').optional(),
  email: bounded(254).min(1).optional().describe("The account's e-mail, or the verified e-mail of one of its identities."),
  wallet_address: WalletAddress.optional(),
  status: z.enum(accountStatuses).optional(),
})

const Switch = z.enum(['active', 'disabled']).optional()
export const Reason = VisibleText(500)

export const AdministerAccount = BodyIn('AdministerAccount', {
  status: z.enum(accountStatuses).optional(),
  capabilities: z.strictObject({ topups: Switch, payments: Switch, api_keys: Switch, oauth: Switch }).optional(),
  reason: Reason.optional(),
})
export type AdministerAccount = z.output<typeof AdministerAccount>

export const Identity = RecordOut('Identity', {
  id: IdOut('identity'),
  provider: z.enum(identityProviders),
  subject: z.string().describe("The provider's subject; for a wallet its EIP-55 address."),
  chain_id: z
    .number()
    .int()
    .nullable()
    .describe(
      'Of a contract wallet: its chain. The same address on another chain is another identity. Null for everything else.',
    ),
  email: z.string().nullable(),
  email_verified: z.boolean(),
  display_name: z.string().nullable(),
  created_at: TimeOut,
  last_used_at: TimeOut.nullable(),
  linked_by_grant_id: IdOut('grant')
    .nullable()
    .describe('The grant that linked it: revoking that grant unlinks it and ends its sessions. Null: a person linked it.'),
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
    '`sign_in` ignores and replaces a session; `link` adds the wallet to the account of the session, and needs one. A text for one is refused for the other. Left out: a session decides, and the text says so.',
  )
export const SignedMessage = BodyIn('VerifyWallet', { ...signedMessage, intent: SignInIntent.optional() })

export const LinkIdentity = z
  .discriminatedUnion('provider', [
    z.strictObject({ provider: z.literal('wallet'), ...signedMessage }),
    z.strictObject({
      provider: z.enum(flowProviders),
      return_to: bounded(2000).min(1).optional().describe('Where the browser goes afterwards.'),
    }),
  ])
  .meta({ id: 'LinkIdentity' })

export const LinkFlow = RecordOut('LinkFlow', {
  authorization_url: z.string().describe('To be opened in the browser of the person whose identity is linked.'),
  expires_at: TimeOut,
})

export const Passkey = RecordOut('Passkey', {
  id: IdOut('passkey'),
  name: z.string(),
  credential_id: z
    .string()
    .describe("The authenticator's own id of it, in base64url: what `allowCredentials` takes when a browser is asked to sign."),
  created_at: TimeOut,
  last_used_at: TimeOut.nullable(),
})
export type Passkey = z.output<typeof Passkey>

export const CreatePasskey = BodyIn('CreatePasskey', { name: Name.describe('Such as "My phone".'), credential: NewCredential })
export type CreatePasskey = z.output<typeof CreatePasskey>

/** The W3C's `PublicKeyCredentialCreationOptionsJSON`. */
export const PasskeyOptions = z
  .object({
    rp: z.object({ id: z.string(), name: z.string() }).describe('This service, as the authenticator knows it (WebAuthn).'),
    user: z
      .object({
        id: z.string(),
        name: z.string(),
        displayName: z.string().describe('The name that the authenticator shows (WebAuthn).'),
      })
      .describe('The account, as the authenticator knows it (WebAuthn).'),
    challenge: z.string().describe('In base64url; it can be used once, for ten minutes.'),
    pubKeyCredParams: z
      .array(z.object({ type: z.literal('public-key'), alg: z.number().int().min(-65_536).max(65_535) }))
      .describe('The kinds of keys that are accepted (WebAuthn).'),
    timeout: z.number().int(),
    excludeCredentials: z
      .array(z.object({ id: z.string(), type: z.literal('public-key') }))
      .describe('The passkeys that the account has already (WebAuthn).'),
    authenticatorSelection: z
      .object({
        residentKey: z.literal('required').describe('Whether the authenticator keeps the key (WebAuthn).'),
        requireResidentKey: z.literal(true).describe('Whether the authenticator keeps the key (WebAuthn).'),
        userVerification: z.literal('required'),
      })
      .describe('Which authenticators may be used (WebAuthn).'),
    attestation: z.literal('none').describe('Whether the authenticator proves its make (WebAuthn).'),
  })
  .meta({
    id: 'PasskeyOptions',
    description: 'What `PublicKeyCredential.parseCreationOptionsFromJSON()` takes, for `navigator.credentials.create()`.',
  })
export type PasskeyOptions = z.output<typeof PasskeyOptions>

export const Prove = BodyIn('ProveSession', { passkey: Assertion })

/** The W3C's `PublicKeyCredentialRequestOptionsJSON`. */
export const ProofOptions = z
  .object({
    challenge: z.string().describe('In base64url; it can be used once, in this session, for ten minutes.'),
    timeout: z.number().int(),
    rpId: z.string().describe('The host of this site.'),
    allowCredentials: z
      .array(z.object({ id: z.string(), type: z.literal('public-key') }))
      .describe('The passkeys that were there when the session began. Empty: prove the session by a sign-in method.'),
    userVerification: z.literal('required'),
  })
  .meta({
    id: 'ProofOptions',
    description: 'What `PublicKeyCredential.parseRequestOptionsFromJSON()` takes, for `navigator.credentials.get()`.',
  })
export type ProofOptions = z.output<typeof ProofOptions>

export const Proven = RecordOut('Proven', {
  proven_at: TimeOut.describe('From then on the session may do what needs a fresh proof, for ten minutes.'),
})

export const Session = RecordOut('Session', {
  id: IdOut('session'),
  status: z.enum(['active', 'revoked', 'expired']),
  current: z.boolean().describe('The session of this request.'),
  ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  created_at: TimeOut,
  last_used_at: TimeOut,
  expires_at: TimeOut,
  revoked_at: TimeOut.nullable(),
})
export type Session = z.output<typeof Session>

export const EndQuery = z.object({
  end: z
    .literal('everything')
    .optional()
    .describe(
      'After a theft: ends also what began there, except the session of this request and the method that began it. If no way to sign in would be left: 409 `last_identity`, and nothing is done.',
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
  domain: z.string().describe('The domain that the message names.'),
  uri: z.string(),
  statement: z.string().describe('The sentence that the message contains.'),
  chain_ids: z.array(z.number()).describe('The chains that are accepted.'),
  issued_at: TimeOut,
  expires_at: TimeOut,
  message: z.string().optional().describe('The message to sign, if an address was given.'),
})

export const SignedIn = RecordOut('SignedIn', {
  outcome: z.enum(['signed_in', 'account_created', 'linked', 'already_linked']),
  account: Account.describe('The account that is signed in.'),
  session: z.object({ expires_at: TimeOut }).nullable().describe('The session that began; null where none did.'),
})

export const DashboardToken = RecordOut('DashboardToken', {
  token: z.string().optional().describe('Shown once: a repeated request with the same Idempotency-Key is answered without it.'),
  token_type: z.literal('Bearer'),
  expires_in: z.number().int(),
})

export const StartQuery = z.object({
  return_to: bounded(2000).min(1).optional().describe('A path of this site, or a URL of an allowed origin.'),
})

export const CallbackQuery = z.object({
  state: bounded(500).optional(),
  code: bounded(4000).optional(),
  error: bounded(500).optional(),
})

export const Redirect = z.undefined().describe('A redirect; there is no body.')
