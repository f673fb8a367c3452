import english from '../../../../texts/books.en.json' with { type: 'json' }
import { createTranslator } from '../../lib/language.ts'

export const { t: tBooks, rich: richBooks } = await createTranslator(
  english,
  () => import('../../../../texts/books.sw.json', { with: { type: 'json' } }),
)
