import english from '../../../../texts/overview.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

export const { t: tHome } = await createTranslator(
  english,
  () => import('../../../../texts/overview.sw.json', { with: { type: 'json' } }),
)
