import english from '../../../texts/files.en.json' with { type: 'json' }
import { readTexts } from './language.ts'

export const { t: tFile } = await readTexts(english, () => import('../../../texts/files.sw.json', { with: { type: 'json' } }))
