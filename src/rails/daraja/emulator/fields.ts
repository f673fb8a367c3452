import { z } from 'zod'
import { type EmulatedAnswer, gatewayError } from '../../../dev/sandbox/answer.ts'

export const mobile = z.string().regex(/^254[17]\d{8}$/)
export const organisation = z.string().regex(/^\d{5,7}$/)
export const timestamp = z.string().regex(/^\d{14}$/)

/** The portal refuses addresses with these words in them, in either case. */
const forbiddenInAddress = /exe|cmd|sql|query|mpesa/i
export const url = z.url({ protocol: /^https?$/ }).refine((text) => !forbiddenInAddress.test(text))
export const remarks = z.string().min(2).max(100)

/** Whole shillings, as text or as a number. */
export const amount = (least: bigint, most: bigint) =>
  z
    .union([z.string(), z.int()])
    .transform(String)
    .pipe(z.string().regex(/^[1-9]\d{0,8}$/))
    .transform(BigInt)
    .refine((value) => value >= least && value <= most)

/** The fields of all requests by an initiator. */
export const initiated = {
  SecurityCredential: z.string().min(1),
  Remarks: remarks,
  QueueTimeOutURL: url,
  ResultURL: url,
}

export const invalidField = (error: z.ZodError): EmulatedAnswer => {
  const name = error.issues[0]?.path.join('.') ?? 'payload'
  return gatewayError(400, '400.002.02', `Bad Request - Invalid ${name}`)
}
