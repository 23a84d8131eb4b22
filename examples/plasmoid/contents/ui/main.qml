// SPDX-License-Identifier: Apache-2.0
import QtQuick
import QtQuick.Layouts
import org.kde.plasma.components as Components
import org.kde.plasma.plasma5support as Plasma5Support
import org.kde.plasma.plasmoid

PlasmoidItem {
    id: root

    readonly property string statusCommand: "keplerctl --json=short status"
    readonly property string appsCommand: "keplerctl --json=short apps --sort=power --limit=8"
    property string power: "-"
    property string quality: ""
    property var apps: []

    function watts(microwatts) {
        return microwatts === undefined ? "-" : (microwatts / 1e6).toFixed(1) + " W";
    }

    function read(command, output) {
        let reply;
        try {
            reply = JSON.parse(output);
        } catch (error) {
            root.power = "-"; // keplerd does not run
            return;
        }
        if (command === root.statusCommand) {
            root.power = root.watts(reply.host.powerMicrowatts);
            root.quality = reply.source.quality ?? "not measured";
        } else {
            root.apps = reply.apps;
        }
    }

    Plasma5Support.DataSource {
        engine: "executable"
        interval: 5000
        connectedSources: root.expanded ? [root.statusCommand, root.appsCommand] : [root.statusCommand]
        onNewData: (source, data) => root.read(source, data.stdout)
    }

    toolTipMainText: root.power
    toolTipSubText: root.quality

    compactRepresentation: Components.Label {
        text: root.power
        textFormat: Text.PlainText
        MouseArea {
            anchors.fill: parent
            onClicked: root.expanded = !root.expanded
        }
    }

    fullRepresentation: ColumnLayout {
        Components.Label {
            text: "Host: " + root.power + " (" + root.quality + ")"
            textFormat: Text.PlainText
        }
        Repeater {
            model: root.apps
            Components.Label {
                required property var modelData
                text: root.watts(modelData.powerMicrowatts) + "  " + modelData.name
                textFormat: Text.PlainText
            }
        }
    }
}
