import { z } from 'zod'
import { WalletAddress, WalletSignature } from '../../auth/wallet-schemas.ts'
import { mandateStatuses } from '../../db/transitions.ts'
import { PageQuery } from '../../http/pagination.ts'
import {
  BodyIn,
  bounded,
  IdIn,
  IdOut,
  MinorOut,
  PositiveMinorIn,
  RecordOut,
  TimeIn,
  TimeOut,
  VisibleText,
} from '../../http/wire.ts'
import { PaymentType } from '../payment-type.ts'

const unique = <Item>(list: readonly Item[] | null | undefined): Item[] => [...new Set(list ?? [])].sort()

/** Both lists are allow lists. An empty list would allow nothing, so it is refused. */
export const MandateTerms = z
  .strictObject({
    workspace_id: IdIn('workspace').nullish(),
    grant_id: IdIn('grant').nullish(),
    description: VisibleText(200),
    max_total_minor: PositiveMinorIn,
    max_per_payment_minor: PositiveMinorIn.nullish(),
    max_payments: z.int().min(1).max(1_000_000).nullish(),
    beneficiary_ids: z.array(IdIn('beneficiary')).min(1).max(100).nullish(),
    payment_types: z.array(PaymentType).min(1).max(100).nullish(),
    valid_from: TimeIn.nullish(),
    expires_at: TimeIn,
  })
  .transform((wire) => ({
    workspaceId: wire.workspace_id ?? null,
    grantId: wire.grant_id ?? null,
    description: wire.description,
    maxTotalMinor: wire.max_total_minor,
    maxPerPaymentMinor: wire.max_per_payment_minor ?? null,
    maxPayments: wire.max_payments ?? null,
    beneficiaryIds: unique(wire.beneficiary_ids),
    paymentTypes: unique(wire.payment_types),
    validFrom: wire.valid_from ?? null,
    expiresAt: wire.expires_at,
  }))
export type MandateTerms = z.output<typeof MandateTerms>

const Signature = WalletSignature.describe('An EIP-191 `personal_sign` signature of the unchanged message.')

export const PrepareMandate = BodyIn('PrepareMandate', { address: WalletAddress, terms: MandateTerms })
export type PrepareMandate = z.output<typeof PrepareMandate>

export const PreparedMandate = z
  .object({ message: z.string(), nonce: z.string(), expires_at: TimeOut })
  .meta({ id: 'PreparedMandate', description: 'The text to sign and its nonce, valid until `expires_at`.' })

export const CreateMandate = BodyIn('CreateMandate', {
  address: WalletAddress,
  terms: MandateTerms,
  nonce: bounded(100).min(1),
  signature: Signature,
})
export type CreateMandate = z.output<typeof CreateMandate>

/** A signature is enough. Without one, the caller's credential is checked. */
export const RevokeMandate = BodyIn('RevokeMandate', {
  signature: Signature.optional(),
  address: WalletAddress.optional().describe('The wallet that signed. Required only for contract wallets.'),
}).nullish()
export type RevokeMandate = z.output<typeof RevokeMandate>

export const RevocationMessage = RecordOut('RevocationMessage', { message: z.string(), expires_at: TimeOut })

export const ListMandates = PageQuery.extend({ status: z.enum(mandateStatuses).optional() })

export const Mandate = RecordOut('IntentMandate', {
  id: IdOut('mandate'),
  status: z.enum(mandateStatuses),
  account_id: IdOut('account'),
  workspace_id: IdOut('workspace'),
  grant_id: IdOut('grant').nullable(),
  description: z.string(),
  max_total_minor: MinorOut,
  max_per_payment_minor: MinorOut.nullable(),
  max_payments: z.number().int().nullable(),
  beneficiary_ids: z.array(IdOut('beneficiary')).describe('The beneficiaries that the mandate covers; empty for any.'),
  payment_types: z.array(z.string()).describe('The payment types that the mandate covers; empty for any.'),
  valid_from: TimeOut,
  expires_at: TimeOut,
  spent_minor: MinorOut,
  payments_made: z.number().int().describe('The number of payments made under the mandate.'),
  message: z.string().describe('The exact text that was signed.'),
  signature: z.string(),
  signer: z.string().describe('The wallet that signed: an address, or `eip155:<chain>:<address>` for a contract wallet.'),
  created_at: TimeOut,
  revoked_at: TimeOut.nullable(),
})
export type Mandate = z.output<typeof Mandate>
