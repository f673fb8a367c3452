import './styles/all.css'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { language } from './lib/language.ts'

document.documentElement.lang = language
const root = document.getElementById('root')
if (!root) throw new Error('the page has no root')
createRoot(root).render(<App />)
