import english from '../../../../texts/beneficiaries.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

export const { t: tPayee, rich: richPayee } = await createTranslator(
  english,
  () => import('../../../../texts/beneficiaries.sw.json', { with: { type: 'json' } }),
)
