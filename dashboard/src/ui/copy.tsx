import { useEffect, useState } from 'react'
import { t } from '../lib/language.ts'
import { Icon } from './icon.tsx'

const useCopy = (value: string): [copied: boolean, copy: () => void] => {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return undefined
    const timer = setTimeout(() => setCopied(false), 1600)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    void navigator.clipboard.writeText(value).then(() => setCopied(true))
  }
  return [copied, copy]
}

export const CopyText = ({ value, text = value, label }: { value: string; text?: string; label: string }) => {
  const [copied, copy] = useCopy(value)
  const title = t('copy_what', { what: label })
  return (
    <button type="button" className="copyable" onClick={copy} title={title} aria-label={`${title} ${value}`}>
      <span>{text}</span>
      <Icon name={copied ? 'check' : 'copy'} size={14} />
      <span className="visually-hidden" role="status">
        {copied ? t('copied') : ''}
      </span>
    </button>
  )
}

export const CopyButton = ({ value, children = t('copy') }: { value: string; children?: string }) => {
  const [copied, copy] = useCopy(value)
  return (
    <button type="button" className="button button-secondary button-small" onClick={copy}>
      <Icon name={copied ? 'check' : 'copy'} size={15} />
      {copied ? t('copied') : children}
      <span className="visually-hidden" role="status">
        {copied ? t('copied') : ''}
      </span>
    </button>
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
