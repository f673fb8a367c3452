import english from '../../../../texts/mandates.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

export const { t: tMandate, rich: richMandate } = await createTranslator(
  english,
  () => import('../../../../texts/mandates.sw.json', { with: { type: 'json' } }),
)
