import { z } from 'zod'
import { PageQuery } from '../../http/pagination.ts'
import { bounded, IdIn, IdOut, TimeIn, TimeOut } from '../../http/wire.ts'

export const LoggedRequest = z
  .object({
    id: IdOut('request').describe('The ID of the entry.'),
    at: TimeOut.describe('When the request was answered.'),
    grant_id: IdOut('grant').nullable().describe('The grant of the API key or agent; null for a person.'),
    operation: z.string().meta({ description: 'The operation ID from the API document.', example: 'payments.create' }),
    method: z.string().meta({ description: 'The HTTP method.', example: 'POST' }),
    path: z.string().meta({
      description: 'The path without the query. IDs are included; other path parameters appear by name.',
      example: '/v1/payments',
    }),
    status: z.number().int().min(100).max(599).meta({ description: 'The HTTP status code of the answer.', example: 403 }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'The error code; null if the request succeeded.', example: 'policy_denied' }),
    message: z.string().nullable().describe('The message of the error, up to 1,000 characters.'),
    request_id: z.string().describe('The `X-Request-Id` of the answer. Calls of one MCP request share it.'),
    ms: z.number().int().min(0).meta({ description: 'The response time in milliseconds.', example: 12 }),
  })
  .meta({ id: 'LoggedRequest', description: 'A request that failed or changed something. Bodies are not stored.' })
export type LoggedRequest = z.output<typeof LoggedRequest>

const Status = bounded(3, 'must be a status such as 403, or a class such as 4xx')
  .regex(/^[1-5](\d\d|xx)$/, 'must be a status such as 403, or a class such as 4xx')
  .transform((text): readonly [number, number] => [Number(text.replace('xx', '00')), Number(text.replace('xx', '99'))])

export const ListRequests = PageQuery.extend({
  grant_id: IdIn('grant').optional().describe('Only requests made with this grant.'),
  request_id: bounded(100)
    .min(1)
    .optional()
    .describe('Only requests with this `X-Request-Id`, which the calls of one MCP request share.'),
  status: Status.optional().describe('Only answers with this status, such as `403`, or this class, such as `4xx`.'),
  created_after: TimeIn.optional().describe('Only requests that were answered after this time.'),
  created_before: TimeIn.optional().describe('Only requests that were answered before this time.'),
})
