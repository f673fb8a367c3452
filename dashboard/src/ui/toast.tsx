import { useEffect, useState } from 'react'
import { t } from '../lib/language.ts'
import { createStore, useStore } from '../lib/store.ts'
import { Button, IconButton } from './button.tsx'
import { Icon, type IconName } from './icon.tsx'

type Tone = 'good' | 'bad' | 'info'
type Action = { label: string; run: () => void }
type Toast = { id: number; text: string; tone: Tone; action: Action | null }

const toastMs = 7000
let counter = 0
const toasts = createStore<readonly Toast[]>([])

const dismiss = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id))

export const announce = (text: string, tone: Tone = 'good', action: Action | null = null): void => {
  counter += 1
  toasts.set([...toasts.get().slice(-2), { id: counter, text, tone, action }])
}

const icons: Readonly<Record<Tone, IconName>> = { good: 'check', bad: 'alert', info: 'bell' }

const ToastItem = ({ toast }: { toast: Toast }) => {
  const [held, setHeld] = useState(false)
  useEffect(() => {
    if (held) return undefined
    const timer = setTimeout(() => dismiss(toast.id), toastMs)
    return () => clearTimeout(timer)
  }, [held, toast.id])
  const { action } = toast
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the toast only stays longer under the pointer or the focus
    <div
      className={`row toast tone-${toast.tone}`}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={({ currentTarget }) => setHeld(currentTarget.contains(document.activeElement))}
      onFocus={() => setHeld(true)}
      onBlur={({ currentTarget, relatedTarget }) =>
        setHeld(currentTarget.contains(relatedTarget) || currentTarget.matches(':hover'))
      }
    >
      <Icon name={icons[toast.tone]} />
      <span className="grow">{toast.text}</span>
      {action && (
        <Button
          size="small"
          onClick={() => {
            dismiss(toast.id)
            action.run()
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton icon="cross" label={t('dismiss')} onClick={() => dismiss(toast.id)} />
    </div>
  )
}

export const Toasts = () => (
  <div className="toasts no-print" role="status" aria-live="polite">
    {useStore(toasts).map((toast) => (
      <ToastItem key={toast.id} toast={toast} />
    ))}
  </div>
)
