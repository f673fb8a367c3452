import type { z } from 'zod'
import type { FieldError } from '../lib/errors.ts'

/** What a schema found, each by the path of its field. */
export const fieldErrors = (issues: readonly z.core.$ZodIssue[]): FieldError[] =>
  issues.flatMap((issue): FieldError[] => {
    const path = issue.path.join('.')
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ path: path ? `${path}.${key}` : key, message: issue.message }))
    if (issue.code === 'invalid_union' && issue.errors.length > 0) return fieldErrors(issue.errors.flat())
    return [{ path: path || 'body', message: issue.message }]
  })
