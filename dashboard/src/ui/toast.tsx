import { useEffect, useState } from 'react'
import { cx } from '../lib/class-names.ts'
import { curlOf, type RecentCall, recentCalls } from '../lib/recent-calls.ts'
import { createStore, useStore } from '../lib/store.ts'
import { Button, IconButton } from './button.tsx'
import { CodeBlock } from './copy.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'

type Toast = { id: number; text: string; tone: 'good' | 'bad'; call: RecentCall | null }

const shownMs = 7000
let counter = 0
let announcedCall = 0
const toasts = createStore<readonly Toast[]>([])

const dismiss = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id))

/** Says that something was done, and offers the same as a curl when it was done through the API. */
export const announce = (text: string, tone: Toast['tone'] = 'good'): void => {
  counter += 1
  const latest = recentCalls.get()[0]
  const call = latest && latest.id > announcedCall && tone === 'good' ? latest : null
  if (call) announcedCall = call.id
  toasts.set([...toasts.get().slice(-2), { id: counter, text, tone, call }])
}

const ToastItem = ({ toast, onShow }: { toast: Toast; onShow: (call: RecentCall) => void }) => {
  const [held, setHeld] = useState(false)
  useEffect(() => {
    if (held) return undefined
    const timer = setTimeout(() => dismiss(toast.id), shownMs)
    return () => clearTimeout(timer)
  }, [held, toast.id])
  const { call } = toast
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only stays longer under the pointer
    <div
      className={cx('toast', toast.tone === 'bad' && 'toast-bad')}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
    >
      <Icon name={toast.tone === 'good' ? 'check' : 'alert'} />
      <span className="grow">{toast.text}</span>
      {call && (
        <Button size="small" variant="quiet" onClick={() => onShow(call)}>
          curl
        </Button>
      )}
      <IconButton icon="cross" label="Dismiss" onClick={() => dismiss(toast.id)} />
    </div>
  )
}

export const Toasts = () => {
  const shown = useStore(toasts)
  const [call, setCall] = useState<RecentCall | null>(null)
  return (
    <>
      <div className="toasts no-print" role="status" aria-live="polite">
        {shown.map((toast) => (
          <ToastItem key={toast.id} toast={toast} onShow={setCall} />
        ))}
      </div>
      {call && (
        <Dialog title="The same from a terminal" onClose={() => setCall(null)} wide>
          <p className="quiet">What you just did, as a request with an API key.</p>
          <CodeBlock code={curlOf(call)} label="curl command" />
        </Dialog>
      )}
    </>
  )
}
