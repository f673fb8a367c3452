import english from '../../../../texts/mandates.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

export const { t: tMandate, rich: richMandate } = await readTexts(
  english,
  () => import('../../../../texts/mandates.sw.json', { with: { type: 'json' } }),
)
