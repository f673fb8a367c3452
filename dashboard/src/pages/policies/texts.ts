import english from '../../../../texts/policies.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

/** What the pages of policies say. */
export const { t: tPolicy, rich: richPolicy } = await readTexts(
  english,
  () => import('../../../../texts/policies.sw.json', { with: { type: 'json' } }),
)
