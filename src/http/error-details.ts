import { z } from 'zod'
import { permissions } from '../auth/permissions.ts'
import { details, text } from '../lib/error-details.ts'

export const ErrorDetails = z
  .looseObject({
    request_id: z
      .string()
      .meta({ description: 'The ID of the request in the logs.', example: '5f1a2b9e-3f0c-4c57-9a6e-0d7c1f8e2b11' }),
    doc_url: z.string().describe('A page that explains the error code and how to fix the problem.'),
    param: text('The invalid field, parameter or header. Present only if exactly one is invalid.'),
    ...details,
    required_permission: details.required_permission.meta({ enum: permissions }),
  })
  .meta({ id: 'ErrorDetails', description: 'Details that help to correct the request. New fields may be added.' })

const known: ReadonlySet<string> = new Set(Object.keys(ErrorDetails.shape))

/** Details that the API document does not declare, which a generated client would not expect. */
export const undeclaredDetails = (given: object = {}): string[] => Object.keys(given).filter((name) => !known.has(name))
