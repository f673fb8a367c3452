import english from '../../../../texts/policies.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

/** Texts of the pages about policies. */
export const { t: tPolicy, rich: richPolicy } = await createTranslator(
  english,
  () => import('../../../../texts/policies.sw.json', { with: { type: 'json' } }),
)
