import { type FocusEvent, useEffect, useState } from 'react'
import { t } from '../lib/language.ts'
import { Icon } from './icon.tsx'

const byHand = t('copy_by_hand')

const selectAll = ({ target }: FocusEvent<HTMLTextAreaElement>) => target.select()

/** Copies a value. `outcome` belongs beside the button, because a screen reader ignores a status inside a button. */
const useCopy = (value: string) => {
  const [state, setState] = useState<'copied' | 'failed' | null>(null)
  useEffect(() => {
    if (state !== 'copied') return undefined
    const timer = setTimeout(() => setState(null), 1600)
    return () => clearTimeout(timer)
  }, [state])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value)
      setState('copied')
    } catch {
      // A plain http page has no clipboard, and a browser may deny it.
      setState('failed')
    }
  }
  const copied = state === 'copied'
  const outcome =
    state === 'failed' ? (
      <span className="copy-by-hand stack-xs small">
        <span role="alert">{byHand}</span>
        {/* biome-ignore lint/a11y/noAutofocus: the person has just asked for this text */}
        <textarea className="input mono" aria-label={byHand} readOnly autoFocus value={value} onFocus={selectAll} />
      </span>
    ) : (
      <span className="visually-hidden" role="status">
        {copied && t('copied')}
      </span>
    )
  return { copied, copy, outcome }
}

const CopyIcon = ({ copied }: { copied: boolean }) => <Icon name={copied ? 'check' : 'copy'} size={16} />

export const CopyText = ({ value, text = value, label }: { value: string; text?: string; label: string }) => {
  const { copied, copy, outcome } = useCopy(value)
  const title = t('copy_what', { what: label })
  return (
    <>
      <button type="button" className="copyable" onClick={copy} title={title} aria-label={`${title} ${value}`}>
        <span>{text}</span>
        <CopyIcon copied={copied} />
      </button>
      {outcome}
    </>
  )
}

export const CopyButton = ({ value, children = t('copy') }: { value: string; children?: string }) => {
  const { copied, copy, outcome } = useCopy(value)
  return (
    <>
      <button type="button" className="button button-secondary button-small" onClick={copy}>
        <CopyIcon copied={copied} />
        {copied ? t('copied') : children}
      </button>
      {outcome}
    </>
  )
}

export const Secret = ({ value, label }: { value: string; label: string }) => (
  <div className="row secret">
    <code>
      <span className="visually-hidden">{label}: </span>
      <span data-secret>{value}</span>
    </code>
    <CopyButton value={value} />
  </div>
)

export const CodeBlock = ({ code, label }: { code: string; label: string }) => (
  <div className="stack-s">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the code scrolls, so the keyboard has to reach it */}
    <section className="code-block" tabIndex={0} aria-label={label}>
      {code}
    </section>
    <div className="row row-end">
      <CopyButton value={code} />
    </div>
  </div>
)
