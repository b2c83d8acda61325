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
        points = leaves.GetCurrentDataObject().GetPoints()
        parts.append([points.GetPoint(i) for i in range(points.GetNumberOfPoints())])
        leaves.GoToNextItem()
    if not parts:
        raise ValueError("the reader fails")
    return parts


answer("VTK", vtkVersion.GetVTKVersion(), show)
