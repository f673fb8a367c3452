import { z } from 'zod'
import { approvalChoices, decisionWays } from '../../../db/tables/approvals.ts'
import { approvalStatuses } from '../../../db/transitions.ts'
import { IdOut, MinorOut, RecordOut, TimeOut } from '../../../http/wire.ts'
import { transferKinds } from '../../../ledger/reports.ts'
import { approvalProofs } from '../../../lib/policy-answers.ts'
import { railNames } from '../../../lib/rail-names.ts'
import { LogHead, RowProof } from '../../proof/schema.ts'
import { PaymentSummary } from '../approvals/schema.ts'
import { Payment } from '../schema.ts'

const Signed = z.object({ signer: z.string(), signature: z.string(), message: z.string() })

/** Binary fields in base64url. */
const PasskeyProof = z.object({
  credential_id: z.string().describe('The passkey that signed.'),
  authenticator_data: z.string().describe('The authenticator data of the signature, in base64url (WebAuthn).'),
  client_data: z.string().describe('The client data of the signature, in base64url (WebAuthn).'),
  public_key: z
    .object({
      kty: z.string(),
      crv: z.string().optional(),
      x: z.string().optional(),
      y: z.string().optional().describe('The second coordinate of the key, in base64url.'),
      n: z.string().optional(),
      e: z.string().optional(),
    })
    .describe('The public key of the passkey.'),
})

export const Receipt = RecordOut('PaymentReceipt', {
  type: z.literal('payment_receipt'),
  version: z.literal(2),
  issuer: z.string(),
  issued_at: TimeOut,
  payment: Payment.describe('The payment of the receipt.'),
  beneficiary: PaymentSummary.shape.beneficiary.omit({ first_payment: true }),
  policies: z
    .array(
      z.object({
        id: IdOut('policy'),
        version: z.number().int(),
        document: z.record(z.string(), z.unknown()).describe('The policy version as it was signed.'),
      }),
    )
    .describe('The policies that applied to the payment, each in the version that decided.'),
  decision_inputs: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe(
      'The inputs of the decision: the payment, the usage, the initiator’s grants, the mandate, the possible approvers and the periods. Together with the policies, they reproduce the decision.',
    ),
  approval: z
    .object({
      id: IdOut('approval'),
      status: z.enum(approvalStatuses),
      required_approvals: z.number().int(),
      separation_of_duties: z.boolean(),
      approval_proof: z.enum(approvalProofs),
      messages: z.object({ approve: z.string(), reject: z.string() }).describe('The exact texts that could be signed.'),
      decisions: z.array(
        z.object({
          account_id: IdOut('account'),
          decision: z.enum(approvalChoices),
          via: z.enum(decisionWays),
          reason: z.string().nullable(),
          signer: z.string().nullable(),
          signature: z.string().nullable(),
          message: z.string().nullable(),
          passkey: PasskeyProof.nullable().describe(
            'Only for `via: passkey`: the passkey and the signed WebAuthn data. The challenge is the SHA-256 of the text.',
          ),
          decided_at: TimeOut,
          voided_at: TimeOut.nullable().describe('When the decision stopped counting; null while it counts.'),
        }),
      ),
    })
    .nullable(),
  batch: z
    .object({
      id: IdOut('payment_batch'),
      items_count: z.number().int(),
      merkle_root: z.string(),
      index: z.number().int(),
      leaf: z.string().describe('The item as the batch binds it: its JSON in RFC 8785 form.'),
      path: z.array(z.string()).describe('The path from the leaf to `merkle_root` (RFC 6962).'),
    })
    .nullable()
    .describe('Only for an item of a batch: the proof that it belongs to the approved root.'),
  mandate: Signed.extend({ id: IdOut('mandate'), description: z.string() }).nullable(),
  ledger_transfers: z.array(
    z.object({
      id: IdOut('ledger'),
      kind: z.enum(transferKinds),
      ends: IdOut('ledger').nullable().describe('The hold that the post or void ends.'),
      debit: z.string().describe('The debited ledger account.'),
      credit: z.string().describe('The credited ledger account.'),
      amount_minor: MinorOut,
      created_at: TimeOut,
    }),
  ),
  rail: z.object({ name: z.enum(railNames), receipt: z.string().nullable() }),
  audit: z
    .object({
      head: LogHead.nullable().describe('The head of the sealed log when the receipt was issued; null before the first seal.'),
      rows: z.array(
        z.object({
          id: z.string(),
          action: z.string(),
          at: TimeOut,
          proof: RowProof.nullable().describe('The proof that the row is in the sealed log; null until the next seal.'),
        }),
      ),
    })
    .describe('The audit rows of the payment and its approval, with the proof that they have not changed since.'),
  jws: z
    .string()
    .describe(
      'A detached JWS (RFC 7515, EdDSA, typ `payment-receipt`) over the RFC 8785 form of all other fields, signed by a key in /.well-known/jwks.json.',
    ),
})
export type Receipt = z.output<typeof Receipt>
