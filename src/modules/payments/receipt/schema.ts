import { z } from 'zod'
import { approvalChoices, decisionWays } from '../../../db/tables/approvals.ts'
import { approvalStatuses } from '../../../db/transitions.ts'
import { IdOut, MinorOut, RecordOut, TimeOut } from '../../../http/wire.ts'
import { transferKinds } from '../../../ledger/reports.ts'
import { approvalProofs } from '../../../lib/policy-answers.ts'
import { railNames } from '../../../lib/rail-names.ts'
import { LogHead, RowProof } from '../../proof/schema.ts'
import { Payment } from '../schema.ts'

const Signed = z.object({ signer: z.string(), signature: z.string(), message: z.string() })

/** Binary fields in base64url. */
const PasskeyProof = z.object({
  credential_id: z.string().describe('The passkey that signed.'),
  authenticator_data: z.string().describe('What the authenticator added to what it signed, base64url.'),
  client_data: z.string().describe('What the browser signed for, base64url.'),
  public_key: z
    .object({
      kty: z.string(),
      crv: z.string().optional(),
      x: z.string().optional(),
      y: z.string().optional().describe('The second coordinate of the key, base64url.'),
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
  payment: Payment.describe('The payment.'),
  beneficiary: z.object({
    id: IdOut('beneficiary'),
    display_name: z.string(),
    payment_rail: z.enum(railNames),
    destination_mask: z.string(),
  }),
  policies: z
    .array(
      z.object({
        id: IdOut('policy'),
        version: z.number().int(),
        document: z.record(z.string(), z.unknown()).describe('What was signed, as it was.'),
      }),
    )
    .describe('The policies that applied to the payment, each as it was when it decided.'),
  decision_inputs: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe(
      'What the decision was made from: the payment, the usage that was read, the initiator’s grants, the mandate, who could approve, the periods. With the policies it gives the same decision again.',
    ),
  approval: z
    .object({
      id: IdOut('approval'),
      status: z.enum(approvalStatuses),
      required_approvals: z.number().int(),
      separation_of_duties: z.boolean(),
      approval_proof: z.enum(approvalProofs),
      messages: z.object({ approve: z.string(), reject: z.string() }).describe('The texts that could be signed, as they were.'),
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
            'For `via: passkey`: what was signed besides the text, whose SHA-256 is its challenge, and by which key.',
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
      leaf: z.string().describe('The item as the batch binds it, in the RFC 8785 form of its JSON.'),
      path: z.array(z.string()).describe('RFC 6962: from the leaf to `merkle_root`.'),
    })
    .nullable()
    .describe('For an item of a batch: that it is one of those under the root that was approved.'),
  mandate: Signed.extend({ id: IdOut('mandate'), description: z.string() }).nullable(),
  ledger_transfers: z.array(
    z.object({
      id: IdOut('ledger'),
      kind: z.enum(transferKinds),
      ends: IdOut('ledger').nullable().describe('The hold that a post or a void ends.'),
      debit: z.string().describe('The ledger account that is debited.'),
      credit: z.string().describe('The ledger account that is credited.'),
      amount_minor: MinorOut,
      created_at: TimeOut,
    }),
  ),
  rail: z.object({ name: z.enum(railNames), receipt: z.string().nullable() }),
  audit: z
    .object({
      head: LogHead.nullable().describe('The sealed log when the receipt was issued; null while nothing is sealed.'),
      rows: z.array(
        z.object({
          id: z.string(),
          action: z.string(),
          at: TimeOut,
          proof: RowProof.nullable().describe('That the row is in the sealed log; null until the next seal.'),
        }),
      ),
    })
    .describe('What was recorded of the payment and its approval, with the proof that nothing of it was changed since.'),
  jws: z
    .string()
    .describe(
      'A detached JWS (RFC 7515, EdDSA, typ `payment-receipt`) over the RFC 8785 form of everything else, by a key of /.well-known/jwks.json.',
    ),
})
export type Receipt = z.output<typeof Receipt>
