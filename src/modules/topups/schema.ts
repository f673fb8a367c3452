import { z } from 'zod'
import { topupStatuses } from '../../db/tables/payments.ts'
import { failureCodes } from '../../errors/failures.ts'
import { IdOut, Metadata, MinorOut, PositiveMinorIn, TimeOut } from '../../http/wire.ts'
import { mobileProblem, parseKenyanMobile } from '../../lib/phone.ts'
import { collectionRail } from '../../lib/rail-names.ts'

const PhoneNumberIn = z
  .string()
  .max(40)
  .transform((text, context): string => {
    const number = parseKenyanMobile(text)
    if (number !== undefined) return number
    context.addIssue({ code: 'custom', message: mobileProblem(text) })
    return z.NEVER
  })
  .meta({
    description: 'A Kenyan mobile number: `07…`, `01…`, `+254…` or `254…`. Its owner gets a prompt on the phone.',
    example: '0712345678',
  })

export const InitiateTopup = z.strictObject({
  amount_minor: PositiveMinorIn,
  phone_number: PhoneNumberIn,
  method: z.enum([collectionRail]).default(collectionRail),
  metadata: Metadata.optional(),
})
export type InitiateTopup = z.output<typeof InitiateTopup>

export const Topup = z
  .object({
    id: IdOut('topup'),
    status: z.enum(topupStatuses),
    amount_minor: MinorOut,
    currency: z.string(),
    method: z.enum([collectionRail]),
    phone_number_mask: z.string().meta({ example: '********5678' }),
    metadata: z.record(z.string(), z.string()),
    provider_receipt: z.string().nullable(),
    failure_code: z.enum(failureCodes).nullable(),
    failure_message: z.string().nullable(),
    provider_code: z.string().nullable().meta({ description: "The rail's own code." }),
    created_at: TimeOut,
    updated_at: TimeOut,
    completed_at: TimeOut.nullable(),
  })
  .meta({
    id: 'Topup',
    description:
      'Ends on the word of the provider. `expired` means that none came in time: a success that is proven later is still credited.',
  })
export type Topup = z.output<typeof Topup>
