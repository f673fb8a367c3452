import { Fragment, useEffect, useId, useRef, useState } from 'react'
import { cx } from '../lib/class-names.ts'
import { Icon } from '../ui/icon.tsx'
import { type Entry, findEntries, useEntries } from './use-entries.ts'

const perGroup = 5

/** Search and commands: a combobox over a list, so that the focus stays in the field. */
export const Palette = ({ onClose }: { onClose: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const { entries, payments } = useEntries(text)
  const results =
    text.trim() === ''
      ? entries.filter(({ group }) => group === 'Actions' || group === 'Go to')
      : [...findEntries(entries, text, perGroup), ...payments]
  const index = Math.min(at, Math.max(0, results.length - 1))
  const chosen = results[index]

  useEffect(() => {
    const opener = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  useEffect(() => {
    if (chosen) document.getElementById(`${id}-${chosen.key}`)?.scrollIntoView({ block: 'nearest' })
  }, [chosen, id])

  const run = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.run()
  }
  const onKey = (event: React.KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt((index + 1) % Math.max(1, results.length))
    else if (event.key === 'ArrowUp') setAt((index - 1 + results.length) % Math.max(1, results.length))
    else if (event.key === 'Enter') run(chosen)
    else return
    event.preventDefault()
  }
  return (
    <dialog
      ref={dialog}
      className="dialog palette"
      aria-label="Search"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onMouseDown={(event) => {
        if (event.target === dialog.current) onClose()
      }}
    >
      <div className="palette-field">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Search payments, beneficiaries, keys, agents, policies and actions"
          aria-expanded
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen && `${id}-${chosen.key}`}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          placeholder="Search or type a command"
          value={text}
          onChange={(event) => {
            setText(event.target.value)
            setAt(0)
          }}
          onKeyDown={onKey}
        />
        <kbd>Esc</kbd>
      </div>
      <div className="palette-list" role="listbox" id={`${id}-list`} aria-label="Results">
        {results.map((entry, position) => (
          <Fragment key={entry.key}>
            {entry.group !== results[position - 1]?.group && (
              <p className="palette-group" role="presentation">
                {entry.group}
              </p>
            )}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the focus and the keys */}
            <div
              id={`${id}-${entry.key}`}
              role="option"
              tabIndex={-1}
              aria-selected={position === index}
              className={cx('palette-entry', position === index && 'palette-chosen')}
              onClick={() => run(entry)}
              onMouseMove={() => setAt(position)}
            >
              <Icon name={entry.icon} />
              <span className="grow">{entry.title}</span>
              {entry.note && <span className="faint small">{entry.note}</span>}
            </div>
          </Fragment>
        ))}
      </div>
      {results.length === 0 && (
        <p className="palette-none quiet" role="status">
          Nothing found for “{text.trim()}”
        </p>
      )}
    </dialog>
  )
}
