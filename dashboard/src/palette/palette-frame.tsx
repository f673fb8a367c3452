import { type ComponentProps, type ReactNode, useState } from 'react'
import { t } from '../lib/language.ts'
import { Modal } from '../ui/form.tsx'
import { Icon } from '../ui/icon.tsx'

type FrameProps = Omit<ComponentProps<'input'>, 'onChange'> & {
  value: string
  onChange: (value: string) => void
  onClose: () => void
  children?: ReactNode
}

export const PaletteFrame = ({ onChange, onClose, children, ...input }: FrameProps) => (
  <Modal className="palette" aria-label={t('search')} onClose={onClose} first="input">
    <div className="palette-field">
      <Icon name="search" />
      <input
        role="combobox"
        aria-label={t('search_all')}
        aria-expanded
        aria-autocomplete="list"
        autoComplete="off"
        spellCheck={false}
        placeholder={t('search_type')}
        onChange={(event) => onChange(event.target.value)}
        {...input}
      />
      <kbd>Esc</kbd>
    </div>
    {children}
  </Modal>
)

let early = ''

/** Text typed before the palette was loaded. */
export const takeEarlyText = (): string => {
  const text = early
  early = ''
  return text
}

/** Search field while the palette loads, so that no key press is lost or triggers a shortcut of the page behind. */
export const EarlyPalette = ({ onClose }: { onClose: () => void }) => {
  const [text, setText] = useState('')
  const keep = (value: string) => {
    early = value
    setText(value)
  }
  const close = () => {
    takeEarlyText()
    onClose()
  }
  return <PaletteFrame value={text} onChange={keep} onClose={close} />
}
