// SPDX-License-Identifier: Apache-2.0
import Clutter from 'gi://Clutter';
import Gio from 'gi://Gio';
import St from 'gi://St';

import {Extension} from 'resource:///org/gnome/shell/extensions/extension.js';
import * as Main from 'resource:///org/gnome/shell/ui/main.js';
import * as PanelMenu from 'resource:///org/gnome/shell/ui/panelMenu.js';

const COMMAND = ['keplerctl', 'monitor', '--output=i3blocks', '--interval=2s'];

export default class Watts extends Extension {
    enable() {
        this._label = new St.Label({text: '-', y_align: Clutter.ActorAlign.CENTER});
        this._button = new PanelMenu.Button(0.0, this.metadata.name, true);
        this._button.add_child(this._label);
        Main.panel.addToStatusArea(this.uuid, this._button);

        this._cancellable = new Gio.Cancellable();
        try {
            this._process = Gio.Subprocess.new(COMMAND, Gio.SubprocessFlags.STDOUT_PIPE | Gio.SubprocessFlags.STDERR_SILENCE);
        } catch (error) {
            this._label.text = error.message;
            return;
        }
        this._lines = new Gio.DataInputStream({base_stream: this._process.get_stdout_pipe()});
        this._readLine();
    }

    _readLine() {
        this._lines.read_line_async(0, this._cancellable, (stream, result) => {
            try {
                const [line] = stream.read_line_finish_utf8(result);
                if (line === null)
                    return; // keplerctl has ended
                this._label.text = line;
                this._readLine();
            } catch (error) {
                if (!error.matches(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED))
                    this._label.text = '-';
            }
        });
    }

    disable() {
        this._cancellable?.cancel();
        this._process?.send_signal(15);
        this._button?.destroy();
        this._cancellable = this._process = this._lines = this._button = this._label = null;
    }
}
