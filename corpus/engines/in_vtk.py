"""VTK: vtkGLTFReader, which morphs and skins on the processor."""
from answer import answer
from vtkmodules.vtkCommonCore import vtkVersion
from vtkmodules.vtkIOGeometry import vtkGLTFReader


def show(path, expected, moment):
    reader = vtkGLTFReader()
    reader.SetFileName(str(path))
    reader.ApplyDeformationsToGeometryOn()
    reader.UpdateInformation()
    if moment["animation"] is not None:
        reader.EnableAnimation(moment["animation"])
        reader.UpdateTimeStep(moment["time"])
    else:
        reader.Update()
    parts = []
    leaves = reader.GetOutput().NewIterator()
    while not leaves.IsDoneWithTraversal():
        shown = leaves.GetCurrentDataObject()
        part = {"positions": [shown.GetPoint(i) for i in range(shown.GetNumberOfPoints())]}
        normals = shown.GetPointData().GetNormals()
        if normals is not None:
            part["normals"] = [normals.GetTuple3(i) for i in range(shown.GetNumberOfPoints())]
        parts.append(part)
        leaves.GoToNextItem()
    if not parts:
        raise ValueError("the reader fails")
    return parts


answer("VTK", vtkVersion.GetVTKVersion(), show)
