import { createStore, keepStored } from './store.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const stored = (): Theme => themes.find((theme) => theme === document.documentElement.dataset.theme) ?? 'system'

export const theme = createStore<Theme>(stored())

export const chooseTheme = (choice: Theme): void => {
  if (choice === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = choice
  keepStored('theme', choice === 'system' ? null : choice)
  theme.set(choice)
}
