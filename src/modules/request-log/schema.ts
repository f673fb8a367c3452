import { z } from 'zod'
import { PageQuery } from '../../http/pagination.ts'
import { bounded, IdIn, IdOut, TimeIn, TimeOut } from '../../http/wire.ts'

export const LoggedRequest = z
  .object({
    id: IdOut('request').describe('The id of the entry.'),
    at: TimeOut.describe('When it was answered.'),
    grant_id: IdOut('grant').nullable().describe('The API key’s or agent’s grant that was used; null for a person.'),
    operation: z.string().meta({ description: 'The operation, as in the API document.', example: 'payments.create' }),
    method: z.string().meta({ description: 'The HTTP method.', example: 'POST' }),
    path: z
      .string()
      .meta({ description: 'The path with ids; another parameter by its name. Without the query.', example: '/v1/payments' }),
    status: z.number().int().min(100).max(599).meta({ description: 'The HTTP status of the answer.', example: 403 }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'The code of the error; null where it succeeded.', example: 'policy_denied' }),
    message: z.string().nullable().describe('The error’s message, at most 1,000 characters.'),
    request_id: z.string().describe('The `X-Request-Id` of the answer. Calls of one MCP request share it.'),
    ms: z.number().int().min(0).meta({ description: 'How long the answer took, in milliseconds.', example: 12 }),
  })
  .meta({ id: 'LoggedRequest', description: 'A request that was refused, failed or changed something. Bodies are not kept.' })
export type LoggedRequest = z.output<typeof LoggedRequest>

const Status = bounded(3, 'must be a status such as 403, or a class such as 4xx')
  .regex(/^[1-5](\d\d|xx)$/, 'must be a status such as 403, or a class such as 4xx')
  .transform((text): readonly [number, number] => [Number(text.replace('xx', '00')), Number(text.replace('xx', '99'))])

export const ListRequests = PageQuery.extend({
  grant_id: IdIn('grant').optional().describe('Only requests with this grant.'),
  request_id: bounded(100)
    .min(1)
    .optional()
    .describe('The request with this `X-Request-Id`; the calls of one MCP request share it.'),
  status: Status.optional().describe('Only answers with this status, such as `403`, or of a class, such as `4xx`.'),
  created_after: TimeIn.optional().describe('Only requests that were answered after this time.'),
  created_before: TimeIn.optional().describe('Only requests that were answered before this time.'),
})
