import english from '../../../../texts/topup.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

export const { t: tTopUp } = await createTranslator(
  english,
  () => import('../../../../texts/topup.sw.json', { with: { type: 'json' } }),
)
