import { z } from 'zod'
import { topupStatuses } from '../../db/transitions.ts'
import { failureCodes } from '../../errors/failures.ts'
import { bounded, IdOut, Metadata, MinorOut, PositiveMinorIn, TimeOut } from '../../http/wire.ts'
import { mobileProblem, parseKenyanMobile } from '../../lib/phone.ts'
import { collectionRail, depositRails, isDepositRail, topupMethods } from '../../lib/rail-names.ts'
import { deposits } from '../../rails/definitions.ts'

const PhoneNumberIn = bounded(40)
  .transform((text, context): string => {
    const number = parseKenyanMobile(text)
    if (number !== undefined) return number
    context.addIssue({ code: 'custom', message: mobileProblem(text) })
    return z.NEVER
  })
  .meta({
    description: 'A Kenyan mobile number: `07…`, `01…`, `+254…` or `254…`. The phone receives a prompt.',
    example: '0712345678',
  })

const Method = z
  .enum(topupMethods)
  .describe(
    [
      `${collectionRail}: a prompt for \`amount_minor\` on the phone with \`phone_number\`.`,
      ...depositRails.map((rail) => `${rail}: ${deposits[rail].label}; \`instructions\` contains the account to pay to.`),
    ].join(' '),
  )

export const InitiateTopup = z
  .strictObject({
    amount_minor: PositiveMinorIn.optional(),
    phone_number: PhoneNumberIn.optional(),
    method: Method.default(collectionRail),
    metadata: Metadata.optional(),
  })
  .superRefine(({ method, amount_minor, phone_number }, context) => {
    if (isDepositRail(method)) return
    for (const [path, value] of Object.entries({ amount_minor, phone_number }))
      if (value === undefined) context.addIssue({ code: 'custom', path: [path], message: `is required for ${method}` })
  })
  .meta({ id: 'InitiateTopup' })
export type InitiateTopup = z.output<typeof InitiateTopup>

export const Topup = z
  .object({
    id: IdOut('topup'),
    workspace_id: IdOut('workspace'),
    status: z.enum(topupStatuses),
    amount_minor: MinorOut.nullable().describe('The requested amount; null for a deposit of any amount.'),
    received_minor: MinorOut.nullable().describe(
      'The amount credited when the top-up succeeded. Later deposits under the same account number are credited too and appear in the history.',
    ),
    currency: z.string(),
    method: Method,
    phone_number_mask: z
      .string()
      .nullable()
      .meta({ example: '********5678' })
      .describe('The last digits of the phone that received the prompt; null for a deposit.'),
    instructions: z
      .union([
        z.object({ paybill: z.string().describe('The paybill to pay to.'), account_number: z.string() }),
        z.object({ bank_code: z.string(), account_number: z.string(), reference: z.string() }),
      ])
      .nullable()
      .describe('The account to pay to, and the account number or reference to use. Spaces and case are ignored.'),
    expires_at: TimeOut.describe('When the top-up expires. Money that arrives later is still credited.'),
    idempotency_key: z.string().nullable().describe('The `Idempotency-Key` of the request that created it.'),
    metadata: z.record(z.string(), z.string()),
    provider_receipt: z.string().nullable(),
    failure_code: z.enum(failureCodes).nullable(),
    failure_message: z.string().nullable(),
    provider_code: z.string().nullable().describe("The rail's own error code."),
    created_at: TimeOut,
    updated_at: TimeOut,
    completed_at: TimeOut.nullable(),
  })
  .meta({
    id: 'Topup',
    description:
      'A top-up ends only with a result from the provider. `expired`: no result came in time; a success that is confirmed later is still credited.',
  })
export type Topup = z.output<typeof Topup>
