import { z } from 'zod'
import { permissions } from '../auth/permissions.ts'
import { type ErrorCode, errorCodes, errorRow } from '../errors/catalogue.ts'
import { conflictReasons } from '../lib/conflict-reasons.ts'
import { minorPattern } from '../lib/money.ts'

const FieldProblem = z.object({
  path: z
    .string()
    .meta({ description: 'Where: `amount_minor`, `spending_controls.daily_limit_minor`.', example: 'amount_minor' }),
  message: z.string().meta({ example: 'has no decimal point: 50.00 is "5000" in minor units' }),
})

export const ErrorDetails = z
  .looseObject({
    request_id: z
      .string()
      .meta({ description: 'The id of the request in the logs.', example: '5f1a2b9e-3f0c-4c57-9a6e-0d7c1f8e2b11' }),
    doc_url: z.string().meta({ description: 'A page that explains the code and what to do.' }),
    param: z.string().optional().meta({ description: 'The one field, parameter or header that is wrong.' }),
    fields: z
      .array(FieldProblem)
      .optional()
      .meta({ description: 'Of a 400: what is wrong with each field, the first 100 of them.' }),
    more: z.number().int().optional().meta({ description: 'How many faults are not listed.' }),
    field: z
      .string()
      .optional()
      .meta({ description: 'Of a 404: the field or header whose id does not exist. Of a signature: what is wrong.' }),
    reason: z
      .string()
      .optional()
      .meta({ enum: Object.keys(conflictReasons), description: 'Why there is a conflict.' }),
    required_permission: z.string().optional().meta({ enum: permissions, description: 'What the credential lacks.' }),
    capability: z.string().optional().meta({ description: 'What the account may not do.' }),
    decision: z.unknown().optional().meta({ documentedAs: 'Decision', description: 'Of `policy_denied`: the whole decision.' }),
    available_minor: z
      .string()
      .optional()
      .meta({ pattern: minorPattern.source, description: 'Of `insufficient_funds`, for callers that may read the account.' }),
    requested_minor: z.string().optional().meta({ pattern: minorPattern.source }),
    recovered_address: z
      .string()
      .nullable()
      .optional()
      .meta({ description: 'Of `invalid_signature`: the wallet that made the signature.' }),
    expected: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Of `invalid_signature`: what the signed message must say.' }),
  })
  .meta({ id: 'ErrorDetails', description: 'What helps to correct the request. More fields may be added.' })

export const ErrorEnvelope = z
  .object({
    error: z.string().meta({ enum: errorCodes, description: 'What a program decides by. The list may grow.' }),
    message: z.string().meta({ description: 'A sentence for a person.' }),
    details: ErrorDetails.optional(),
  })
  .meta({
    id: 'Error',
    description:
      'Every refusal has this shape. details.request_id is the id of the request; details.fields says what is wrong with a request that is refused with 400.',
  })

type Response = { description: string; content: { 'application/json': { schema: typeof ErrorEnvelope } } }

const response = (codes: readonly ErrorCode[]): Response => ({
  description: codes.map((code) => `\`${code}\`: ${errorRow(code).sentence}`).join(' '),
  content: { 'application/json': { schema: ErrorEnvelope } },
})

/** The responses of a route's refusals, grouped by status, for the OpenAPI document. */
export const refusalResponses = (codes: readonly ErrorCode[]): Record<number, Response> => {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorRow(code).status)
  return Object.fromEntries([...byStatus].map(([status, of]) => [status, response(of)]))
}
