import { z } from 'zod'
import { approvalChoices, approvalStatuses, decisionWays } from '../../../db/tables/approvals.ts'
import { IdOut, MinorOut, TimeOut } from '../../../http/wire.ts'
import { transferKinds } from '../../../ledger/reports.ts'
import { railNames } from '../../../lib/rail-names.ts'
import { Payment } from '../schema.ts'

const Signed = z.object({ signer: z.string(), signature: z.string(), message: z.string() })

export const Receipt = z
  .object({
    type: z.literal('payment_receipt'),
    version: z.literal(1),
    issuer: z.string(),
    payment: Payment,
    beneficiary: z.object({
      id: IdOut('beneficiary'),
      display_name: z.string(),
      payment_rail: z.enum(railNames),
      destination_mask: z.string(),
    }),
    policies: z
      .array(z.object({ id: IdOut('policy'), version: z.number().int(), document: z.record(z.string(), z.unknown()) }))
      .meta({ description: 'The policies that fell on the payment, each as it was when it decided.' }),
    approval: z
      .object({
        id: IdOut('approval'),
        status: z.enum(approvalStatuses),
        required_approvals: z.number().int(),
        separation_of_duties: z.boolean(),
        messages: z.object({ approve: z.string(), reject: z.string() }),
        decisions: z.array(
          z.object({
            account_id: IdOut('account'),
            decision: z.enum(approvalChoices),
            via: z.enum(decisionWays),
            reason: z.string().nullable(),
            signer: z.string().nullable(),
            signature: z.string().nullable(),
            message: z.string().nullable(),
            decided_at: TimeOut,
          }),
        ),
      })
      .nullable(),
    mandate: Signed.extend({ id: IdOut('mandate'), description: z.string() }).nullable(),
    ledger_transfers: z.array(
      z.object({
        id: IdOut('ledger'),
        kind: z.enum(transferKinds),
        ends: IdOut('ledger').nullable().meta({ description: 'The hold that a post or a void ends.' }),
        debit: z.string(),
        credit: z.string(),
        amount_minor: MinorOut,
        created_at: TimeOut,
      }),
    ),
    rail: z.object({ name: z.enum(railNames), receipt: z.string().nullable() }),
    audit: z.array(
      z.object({
        id: z.string(),
        action: z.string(),
        at: TimeOut,
        seal: z
          .object({ sequence: z.number().int(), hash: z.string(), sealed_at: TimeOut })
          .nullable()
          .meta({ description: 'The link of the audit chain that covers this row; null until the next seal.' }),
      }),
    ),
    digest: z.string().meta({ description: 'sha256 of the canonical JSON (names sorted, no white space) of everything else.' }),
  })
  .meta({ id: 'PaymentReceipt' })
export type Receipt = z.output<typeof Receipt>
