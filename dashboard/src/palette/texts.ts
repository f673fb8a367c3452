import english from '../../../texts/palette.en.json' with { type: 'json' }
import { createTranslator } from '../lib/language.ts'

export const { t: tPalette } = await createTranslator(
  english,
  () => import('../../../texts/palette.sw.json', { with: { type: 'json' } }),
)
