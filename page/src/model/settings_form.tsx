// The settings of a kind of model, by group; what is left empty stays as it is by default.
import type { Schemas } from "../api/client";
import { TypedInput } from "../components/typed_input";

type Setting = Schemas["SettingView"];
export type Chosen = Readonly<Record<string, string>>; // option: what was typed

interface Props {
  readonly kind: Schemas["KindView"];
  readonly chosen: Chosen;
  readonly onChange: (chosen: Chosen) => void;
}

export function SettingsForm({ kind, chosen, onChange }: Props) {
  const groups = [...new Set(kind.settings.map((setting) => setting.group))].reverse(); // its own settings first
  const set = (option: string, value: string) =>
    onChange(Object.fromEntries([...Object.entries(chosen).filter(([name]) => name !== option), ...(value === "" ? [] : [[option, value]])]));
  return (
    <div class="settings">
      {groups.map((group) => {
        const settings = kind.settings.filter((setting) => setting.group === group);
        const changed = settings.filter((setting) => setting.option in chosen).length;
        return (
          <details key={group} open={changed > 0}>
            <summary>{group === "Several models" ? "Smoothing, prior and the like" : group} <span class="quiet">{changed ? `${changed} changed` : `${settings.length}`}</span></summary>
            {settings.map((setting) => (
              <div key={setting.option} class="setting">
                <label for={`set-${setting.option}`}>{setting.option}</label>
                <Entry setting={setting} value={chosen[setting.option] ?? ""} onChange={(value) => set(setting.option, value)} />
                <p class="quiet">{setting.help}</p>
              </div>
            ))}
          </details>
        );
      })}
    </div>
  );
}

function Entry({ setting, value, onChange }: { setting: Setting; value: string; onChange: (value: string) => void }) {
  const id = `set-${setting.option}`;
  if (isFlag(setting)) return <input id={id} type="checkbox" checked={value === "true"} onChange={(event) => onChange(event.currentTarget.checked ? "true" : "")} />;
  if (setting.choices.length && !setting.number) {
    return (
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{setting.default ?? "default"}</option>
        {setting.choices.filter((choice) => choice !== setting.default).map((choice) => <option key={choice} value={choice}>{choice}</option>)}
      </select>
    );
  }
  const words = setting.number && !setting.choices.length;
  return (
    <>
      <TypedInput id={id} type={words ? "number" : "text"} step="any" min={setting.at_least ?? undefined} max={setting.at_most ?? undefined} value={value}
        placeholder={setting.default ?? (setting.number ? "" : "name=value; name=value")} list={setting.choices.length ? `${id}-words` : undefined} onTyped={onChange} />
      {setting.choices.length > 0 && <datalist id={`${id}-words`}>{setting.choices.map((choice) => <option key={choice} value={choice} />)}</datalist>}
    </>
  );
}

function isFlag(setting: Setting): boolean {
  return setting.choices.length === 2 && setting.choices.includes("True") && setting.choices.includes("False");
}

/** The settings as the server takes them: flags, numbers, and lists of name=value. */
export function settingsOf(kind: Schemas["KindView"], chosen: Chosen): NonNullable<Schemas["FitRequest"]["settings"]> {
  const found: NonNullable<Schemas["FitRequest"]["settings"]> = {};
  for (const setting of kind.settings) {
    const value = chosen[setting.option];
    if (value === undefined) continue;
    if (isFlag(setting)) found[setting.option] = true;
    else if (setting.number && value !== "" && Number.isFinite(Number(value))) found[setting.option] = Number(value);
    else found[setting.option] = value.includes(";") ? value.split(";").map((each) => each.trim()).filter(Boolean) : value;
  }
  return found;
}
