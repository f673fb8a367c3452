import { bounded } from '../http/wire.ts'
import { railNames } from '../lib/rail-names.ts'

const pattern = /^[a-z][a-z0-9_]{0,39}$/
const isRail = (text: string): boolean => railNames.some((rail) => rail === text)

/** Suggests the type that was probably meant. Limits match types exactly, so a second spelling would bypass them. */
const problem = (text: string): string => {
  const upper = text.trim().toUpperCase()
  if (isRail(upper)) return `is a rail's name: send "${upper}"`
  const word = text
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_0-9]+|_+$/g, '')
    .slice(0, 40)
  const rule = "must be a rail's name or a lowercase word of letters, digits and _"
  return word === '' ? rule : `${rule}: send "${word}"`
}

/** A rail's name, or the caller's own word in one spelling. */
export const PaymentType = bounded(100)
  .superRefine((text, context) => {
    const lookalike = isRail(text.toUpperCase()) && !isRail(text)
    if (lookalike || !(isRail(text) || pattern.test(text))) context.addIssue({ code: 'custom', message: problem(text) })
  })
  .meta({ description: 'A rail name, or your own lowercase word.', example: 'salary', maxLength: 40 })
