import english from '../../../../texts/beneficiaries.en.json' with { type: 'json' }
import { readTexts } from '../../lib/language.ts'

export const { t: tPayee, rich: richPayee } = await readTexts(
  english,
  () => import('../../../../texts/beneficiaries.sw.json', { with: { type: 'json' } }),
)
