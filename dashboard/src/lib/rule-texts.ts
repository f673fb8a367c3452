import type { AnyRule } from '../../../src/policy/rules.ts'
import english from '../../../texts/rules.en.json' with { type: 'json' }
import { createTranslator } from './language.ts'

english satisfies Readonly<Record<`${AnyRule}.${'passed' | 'stopped'}`, string>>

/** Texts for the results of rules, and for their terms. */
export const { t: tRule, isKey: isRuleText } = await createTranslator(
  english,
  () => import('../../../texts/rules.sw.json', { with: { type: 'json' } }),
)
