import { z } from 'zod'
import { Assertion, NewCredential } from '../../auth/passkey.ts'
import { intents, WalletAddress, WalletSignature } from '../../auth/wallet.ts'
import { accountStatuses, identityProviders } from '../../db/tables/accounts.ts'
import { flowProviders } from '../../db/tables/sign-in-flows.ts'
import { PageQuery } from '../../http/pagination.ts'
import { bounded, IdIn, IdOut, MinorOut, Name, SeveralOf, SignedMinorOut, TimeIn, TimeOut, VisibleText } from '../../http/wire.ts'
import { historyTypes } from '../../ledger/reports.ts'
import { Funds } from '../workspaces/schema.ts'

const Capability = z.enum(['active', 'disabled'])

export const Account = z
  .object({
    id: IdOut('account'),
    status: z.enum(accountStatuses),
    email: z.string().nullable(),
    display_name: z.string().nullable(),
    balance: Funds.meta({ description: 'The balance of its personal workspace.' }),
    capabilities: z.object({ topups: Capability, payments: Capability, api_keys: Capability, oauth: Capability }),
    created_at: TimeOut,
  })
  .meta({ id: 'Account' })
export type Account = z.output<typeof Account>

export const UpdateAccount = z.strictObject({ display_name: Name.nullable() }).partial().meta({ id: 'UpdateAccount' })

export const SummarizeHistory = z.object({
  days: z.coerce.number().int().min(1).max(90).default(30).meta({ description: 'How many days are listed, today included.' }),
})

export const HistorySummary = z
  .object({
    currency: z.string(),
    days: z.array(
      z.object({ date: z.string().meta({ format: 'date', example: '2026-01-31' }), in_minor: MinorOut, out_minor: MinorOut }),
    ),
  })
  .meta({
    id: 'HistorySummary',
    description:
      'Money that came in and money that left, by day in the time zone of the current workspace; oldest first. Holds are not counted.',
  })

export const ListHistory = PageQuery.extend({
  type: SeveralOf(z.enum(historyTypes))
    .optional()
    .meta({ description: 'One or several: `?type=topup&type=adjustment`, or with commas.' }),
  created_after: TimeIn.optional(),
  created_before: TimeIn.optional(),
})

export const HistoryEntry = z
  .object({
    id: IdOut('ledger'),
    type: z.enum(historyTypes),
    amount_minor: SignedMinorOut.meta({
      description:
        'Signed: how this entry changed the available balance, so that a history adds up to the balance. A hold lowers it, a release raises it, and the payment itself then changes nothing; a late success that was charged is a payment without a hold, and lowers it.',
    }),
    held_change_minor: SignedMinorOut.meta({
      description: 'Signed: how this entry changed the held amount. A hold raises it, its payment or its release lowers it.',
    }),
    available_after_minor: MinorOut,
    reference: z.object({ type: z.string(), id: z.string() }),
    beneficiary: z
      .object({ id: IdOut('beneficiary'), display_name: z.string() })
      .nullable()
      .meta({ description: 'Who was paid. Null if the entry is not a payment, and for a reader without `beneficiary.read`.' }),
    batch: z
      .object({ id: IdOut('payment_batch'), name: z.string().nullable() })
      .nullable()
      .meta({ description: 'The list that the payment is of. Null as `beneficiary` is.' }),
    created_at: TimeOut,
  })
  .meta({ id: 'HistoryEntry' })

export const WorkspaceHistoryEntry = HistoryEntry.extend({
  available_after_minor: MinorOut.nullable().meta({
    description: 'Null where the balance is shared, or not the reader’s to see.',
  }),
}).meta({ id: 'WorkspaceHistoryEntry' })

export const AdminAccount = Account.extend({
  is_admin: z.boolean().meta({ description: 'Named by command, or by ADMIN_ACCOUNTS.' }),
  updated_at: TimeOut,
}).meta({ id: 'AdminAccount' })
export type AdminAccount = z.output<typeof AdminAccount>

export const FindAccounts = PageQuery.extend({
  id: IdIn('account').optional(),
  email: bounded(254)
    .min(1)
    .optional()
    .meta({ description: "The account's e-mail, or the verified e-mail of one of its identities." }),
  wallet_address: WalletAddress.optional(),
  status: z.enum(accountStatuses).optional(),
})

const Switch = z.enum(['active', 'disabled']).optional()
export const Reason = VisibleText(500)

export const AdministerAccount = z
  .strictObject({
    status: z.enum(accountStatuses).optional(),
    capabilities: z.strictObject({ topups: Switch, payments: Switch, api_keys: Switch, oauth: Switch }).optional(),
    reason: Reason.optional(),
  })
  .meta({ id: 'AdministerAccount' })
export type AdministerAccount = z.output<typeof AdministerAccount>

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

const signedMessage = { message: bounded(4000).min(1), signature: WalletSignature }
const SignInIntent = z.enum(intents).meta({
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

export const Passkey = z
  .object({
    id: IdOut('passkey'),
    name: z.string(),
    credential_id: z.string().meta({
      description:
        "The authenticator's own id of it, in base64url: what `allowCredentials` takes when a browser is asked to sign.",
    }),
    created_at: TimeOut,
    last_used_at: TimeOut.nullable(),
  })
  .meta({ id: 'Passkey' })
export type Passkey = z.output<typeof Passkey>

export const CreatePasskey = z
  .strictObject({ name: Name.meta({ description: 'Such as "My phone".' }), credential: NewCredential })
  .meta({ id: 'CreatePasskey' })
export type CreatePasskey = z.output<typeof CreatePasskey>

/** The W3C's `PublicKeyCredentialCreationOptionsJSON`. */
export const PasskeyOptions = z
  .object({
    rp: z
      .object({ id: z.string(), name: z.string() })
      .meta({ description: 'This service, as the authenticator knows it (WebAuthn).' }),
    user: z
      .object({
        id: z.string(),
        name: z.string(),
        displayName: z.string().meta({ description: 'The name that the authenticator shows (WebAuthn).' }),
      })
      .meta({ description: 'The account, as the authenticator knows it (WebAuthn).' }),
    challenge: z.string().meta({ description: 'In base64url; it can be used once, for ten minutes.' }),
    pubKeyCredParams: z
      .array(z.object({ type: z.literal('public-key'), alg: z.number().int().min(-65_536).max(65_535) }))
      .meta({ description: 'The kinds of keys that are accepted (WebAuthn).' }),
    timeout: z.number().int(),
    excludeCredentials: z
      .array(z.object({ id: z.string(), type: z.literal('public-key') }))
      .meta({ description: 'The passkeys that the account has already (WebAuthn).' }),
    authenticatorSelection: z
      .object({
        residentKey: z.literal('required').meta({ description: 'Whether the authenticator keeps the key (WebAuthn).' }),
        requireResidentKey: z.literal(true).meta({ description: 'Whether the authenticator keeps the key (WebAuthn).' }),
        userVerification: z.literal('required'),
      })
      .meta({ description: 'Which authenticators may be used (WebAuthn).' }),
    attestation: z.literal('none').meta({ description: 'Whether the authenticator proves its make (WebAuthn).' }),
  })
  .meta({
    id: 'PasskeyOptions',
    description: 'What `PublicKeyCredential.parseCreationOptionsFromJSON()` takes, for `navigator.credentials.create()`.',
  })
export type PasskeyOptions = z.output<typeof PasskeyOptions>

export const Prove = z.strictObject({ passkey: Assertion }).meta({ id: 'ProveSession' })

/** The W3C's `PublicKeyCredentialRequestOptionsJSON`. */
export const ProofOptions = z
  .object({
    challenge: z.string().meta({ description: 'In base64url; it can be used once, in this session, for ten minutes.' }),
    timeout: z.number().int(),
    rpId: z.string().meta({ description: 'The host of this site.' }),
    allowCredentials: z.array(z.object({ id: z.string(), type: z.literal('public-key') })).meta({
      description: 'The passkeys that were there when the session began. Empty: prove the session by a sign-in method.',
    }),
    userVerification: z.literal('required'),
  })
  .meta({
    id: 'ProofOptions',
    description: 'What `PublicKeyCredential.parseRequestOptionsFromJSON()` takes, for `navigator.credentials.get()`.',
  })
export type ProofOptions = z.output<typeof ProofOptions>

export const Proven = z
  .object({
    proven_at: TimeOut.meta({ description: 'From then on the session may do what needs a fresh proof, for ten minutes.' }),
  })
  .meta({ id: 'Proven' })

export const Session = z
  .object({
    id: IdOut('session'),
    status: z.enum(['active', 'revoked', 'expired']),
    current: z.boolean().meta({ description: 'The session of this request.' }),
    ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    created_at: TimeOut,
    last_used_at: TimeOut,
    expires_at: TimeOut,
    revoked_at: TimeOut.nullable(),
  })
  .meta({ id: 'Session' })
export type Session = z.output<typeof Session>

export const EndQuery = z.object({
  end: z.literal('everything').optional().meta({
    description:
      'After a theft: ends also what began there, except the session of this request and the method that began it. If no way to sign in would be left: 409 `last_identity`, and nothing is done.',
  }),
})

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
